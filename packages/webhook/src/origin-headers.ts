import type { RequestShape } from '@barnabas/core'

/**
 * Who we say we are, on each delivery: to receivers that were asked by the handshake of CloudEvents (HTTP 1.1 Web Hooks
 * 1.0.2), and to those of CloudEvents in Event Grid's cloud notation (spec page §2.1). The documents of the two name one
 * header each, and Event Grid's engine sends `Origin`, so both are sent. On Kubernetes there is no handshake, and nobody
 * who asked who we are (§1.5, §2.3).
 */
export function addOriginHeaders(headers: Record<string, string>, shape: RequestShape, origin: string): void {
  const { handshake, notation, schema } = shape
  const isEventGrid = notation === 'event-grid' && schema === 'CloudEventSchemaV1_0'
  if (handshake !== 'cloudevents' && !isEventGrid) return
  headers['origin'] = origin
  headers['webhook-request-origin'] = origin
}
