/**
 * Text from Kafka or from the command line as it may be shown on a terminal: control characters, which could move the
 * cursor or change colours, become visible escapes; line breaks and tabs stay.
 */
export function printable(text: string): string {
  // Bidirectional marks too: they make a line read differently from what it says.
  return text.replace(
    // oxlint-disable-next-line no-control-regex
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** The same for a place where only one line fits. */
export function oneLine(text: string): string {
  return printable(text).replace(/[\n\t]/g, (character) => (character === '\n' ? '\\n' : '\\t'))
}
