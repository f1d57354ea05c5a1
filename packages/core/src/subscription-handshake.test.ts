import { describe, expect, test } from 'vitest'
import { parseSubscription } from './parse-subscription.ts'

const own = { id: 'orders', topics: ['orders'], sink: 'https://billing.example.com/' }

const sample = {
  id: 'orders',
  topics: ['orders'],
  notation: 'event-grid-kubernetes',
  properties: {
    destination: {
      endpointType: 'WebHook',
      properties: { endpointUrl: own.sink, eventDeliverySchema: 'CloudEventSchemaV1_0' },
    },
  },
}

describe('no handshake on Kubernetes', () => {
  test.each(['event-grid', 'cloudevents'])(
    '%s is refused by name, in our notation and beside that of Event Grid',
    (handshake) => {
      for (const document of [{ ...own, notation: 'event-grid-kubernetes' }, sample]) {
        expect(parseSubscription({ ...document, handshake })).toEqual({
          kind: 'invalid',
          problems: [
            {
              path: ['handshake'],
              message: `handshake: ${handshake} is not possible with notation: event-grid-kubernetes, which asks nobody; leave it out, or write the subscription in another notation`,
            },
          ],
        })
      }
    },
  )

  test('none is what it has anyway; other notations may have either', () => {
    const accepted = [
      { ...sample, handshake: 'none' },
      sample,
      { ...own, handshake: 'cloudevents' },
      { ...own, notation: 'event-grid', handshake: 'event-grid' },
    ]
    for (const document of accepted) expect(parseSubscription(document)).toMatchObject({ kind: 'valid' })
  })
})
