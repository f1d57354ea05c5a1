import { Option } from 'commander'

/** Which of the events that a subscription is blocked at is meant. */
export function eventOption(): Option {
  return new Option(
    '--event <topic/partition/offset>',
    'which of the events it is blocked at; may be left out when there is one',
  )
}
