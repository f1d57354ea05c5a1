/** What the brokers' security and ours may disagree on, by what the client says of it. */
const hints: readonly { readonly says: RegExp; readonly mend: string }[] = [
  {
    says: /SASL|authentication failed/i,
    mend: 'check KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD and KAFKA_SASL_MECHANISM',
  },
  {
    says: /certificate|altname/i,
    mend: "KAFKA_SSL_CA_FILE has to name the authority that signed the brokers' certificates",
  },
  {
    says: /closed connection|before secure TLS connection|wrong version number|EPROTO/i,
    mend: 'does this port speak TLS? KAFKA_SSL says whether we do',
  },
]

/** How to mend a connection that failed with this message, as the end of a sentence; empty when nothing is known. */
export function kafkaConnectionHint(message: string): string {
  const hint = hints.find(({ says }) => says.test(message))
  return hint === undefined ? '' : `; ${hint.mend}`
}
