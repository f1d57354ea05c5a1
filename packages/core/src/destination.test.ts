import { expect, test } from 'vitest'
import { destinationForDisplay } from './destination.ts'

test.each([
  ['https://billing.example.com/hook', 'https://billing.example.com/hook'],
  ['https://billing.example.com', 'https://billing.example.com/'],
  ['http://127.0.0.1:3000/a/b', 'http://127.0.0.1:3000/a/b'],
  ['https://user:secret@example.com/hook?code=secret#secret', 'https://example.com/hook'],
  ['https://chat.example.com/services/T024F/xxSECRETxxxSECRETxxxx', 'https://chat.example.com/services/T024F/xxSE…'],
  ['https://example.com/exactly-20-characters', 'https://example.com/exac…'],
  ['https://example.com/exactly-20-character', 'https://example.com/exactly-20-character'],
  ['https://example.com/abc%C3%A9defghijklmnopqrst', 'https://example.com/abc…'],
  ['https://[::1]:8443/hook', 'https://[::1]:8443/hook'],
  ['kafka:orders', 'kafka:orders'],
  ['kafka://other/orders', 'kafka://other/orders'],
  ['secret that is no URL', '(no URL)'],
])('%s is shown as %s', (url, shown) => {
  expect(destinationForDisplay(url)).toBe(shown)
})
