/** What an attribute may be called so that it can stand in an HTTP header name (RFC 9110, §5.6.2). */
const tokenPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const specifiedNamePattern = /^[a-z0-9]+$/
const printableAsciiPattern = /^[\x20-\x7e]*$/

/**
 * What is wrong with a set of attributes, in one line, or null. The four required ones must be there; the others
 * are carried as they are, so that nothing is lost to a rule that the receiver may not share. What remains
 * refused is what no HTTP request can carry.
 */
export function problemOfAttributes(attributes: ReadonlyMap<string, string>): string | null {
  const version = attributes.get('specversion')
  if (version !== '1.0') return problemOfVersion(version)
  const missing = problemOfRequired(attributes, 'id') ?? problemOfRequired(attributes, 'source')
  const problem = missing ?? problemOfRequired(attributes, 'type')
  if (problem !== null) return problem
  const contentType = attributes.get('datacontenttype')
  if (contentType !== undefined && !printableAsciiPattern.test(contentType)) {
    return `attribute \`datacontenttype\` is ${quoted(contentType)}; only printable ASCII can stand in it`
  }
  return problemOfNames(attributes)
}

/** The sentence for a `specversion` other than "1.0". */
export function problemOfVersion(version: string | undefined): string {
  if (version === undefined) return 'attribute `specversion` is missing'
  return `attribute \`specversion\` is ${quoted(version)}; only "1.0" is supported`
}

/** A value as it can stand in a message of one line: quoted, and cut when it is long. */
export function quoted(text: string): string {
  const literal = JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)
  // JSON leaves DEL, the C1 controls and the Unicode line ends as they are; a terminal or a log does not.
  return literal.replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function problemOfRequired(attributes: ReadonlyMap<string, string>, name: string): string | null {
  const value = attributes.get(name)
  if (value === undefined) return `attribute \`${name}\` is missing`
  return value === '' ? `attribute \`${name}\` is empty` : null
}

function problemOfNames(attributes: ReadonlyMap<string, string>): string | null {
  for (const name of attributes.keys()) {
    if (specifiedNamePattern.test(name)) {
      // `data` is a member of the JSON format beside the attributes (CloudEvents 1.0.2, "Attribute Naming Convention").
      if (name === 'data') return 'an attribute cannot be named `data`'
      continue
    }
    if (name === 'data_base64') return 'an attribute cannot be named `data_base64`'
    if (!tokenPattern.test(name)) {
      return `attribute name ${quoted(name)} cannot stand in an HTTP header; use lower-case letters and digits`
    }
    // HTTP header names are compared without regard to case: `ce-ID` would run into `ce-id`.
    const lowerCase = name.toLowerCase()
    if (lowerCase !== name && attributes.has(lowerCase)) {
      return `attributes \`${name}\` and \`${lowerCase}\` differ in upper and lower case only`
    }
  }
  return null
}
