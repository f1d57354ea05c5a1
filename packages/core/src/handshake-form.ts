/** How a receiver is asked whether it wants the events; `none`: it is not asked. */
export const handshakeForms = ['none', 'event-grid', 'cloudevents'] as const
export type HandshakeForm = (typeof handshakeForms)[number]
export type MadeHandshakeForm = Exclude<HandshakeForm, 'none'>
