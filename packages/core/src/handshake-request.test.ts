import { expect, test } from 'vitest'
import { handshakeRequest } from './handshake-request.ts'

const subscription = { id: 'orders-to-billing', topics: ['orders', 'returns'] }
const handshake = {
  code: '512d38b6-c7b8-40c8-89fe-f46f9e9622b6',
  origin: 'shop.example',
  url: 'https://barnabas.shop.example/handshakes/orders-to-billing/abc',
  rate: 120,
  eventId: '2d1781af-3a4c-4d7c-bd0c-e34b19da4e66',
  now: Date.parse('2026-12-02T10:00:00Z'),
}

test("Event Grid's validation event is an array of one, with its headers (spec event-grid.md 2.2)", () => {
  const { method, headers, body } = handshakeRequest(subscription, { ...handshake, form: 'event-grid' })
  expect(method).toBe('POST')
  expect(headers).toEqual({
    'user-agent': 'barnabas',
    'barnabas-subscription': 'orders-to-billing',
    'content-type': 'application/json; charset=utf-8',
    'aeg-event-type': 'SubscriptionValidation',
    'aeg-subscription-name': 'ORDERS-TO-BILLING',
    'aeg-delivery-count': '0',
    'aeg-data-version': '1',
    'aeg-metadata-version': '1',
  })
  expect(JSON.parse(body ?? '')).toEqual([
    {
      id: handshake.eventId,
      topic: 'orders',
      subject: '',
      data: { validationCode: handshake.code, validationUrl: handshake.url },
      eventType: 'Microsoft.EventGrid.SubscriptionValidationEvent',
      eventTime: '2026-12-02T10:00:00.000Z',
      metadataVersion: '1',
      dataVersion: '1',
    },
  ])
})

test('the CloudEvents handshake asks with OPTIONS for origin, callback and rate (http-webhook.md 4.1)', () => {
  expect(handshakeRequest(subscription, { ...handshake, form: 'cloudevents' })).toEqual({
    method: 'OPTIONS',
    headers: {
      'user-agent': 'barnabas',
      'barnabas-subscription': 'orders-to-billing',
      'webhook-request-origin': 'shop.example',
      'webhook-request-callback': handshake.url,
      'webhook-request-rate': '120',
    },
    body: null,
  })
})

test('without BARNABAS_PUBLIC_URL there is no URL to call, and without a rate none is asked for', () => {
  const bare = { ...handshake, url: null, rate: null }
  const { body } = handshakeRequest(subscription, { ...bare, form: 'event-grid' })
  expect(JSON.parse(body ?? '')).toMatchObject([{ data: { validationCode: handshake.code } }])
  expect(body).not.toContain('validationUrl')
  const { headers } = handshakeRequest(subscription, { ...bare, form: 'cloudevents' })
  expect(Object.keys(headers)).toEqual(['user-agent', 'barnabas-subscription', 'webhook-request-origin'])
})
