import { translateDeadLetterQueue } from './eventbridge-dead-letter.ts'
import { ignoreAt, isSaid, mappingAt, openedAt } from './eventbridge-place.ts'
import type { Place } from './notation-place.ts'
import { comesFrom, fieldsAt, reportAt, warnAt, wordAt } from './notation-place.ts'
import { retryLimitsOf } from './retry-policy.ts'
import { readNumber } from './subscription-field.ts'

type Fields = Readonly<Record<string, unknown>>

const attemptsMax = 176
const ageMaxSeconds = 86_400
const countMax = 10_000
const windowMaxSeconds = 15
const tasksMax = 10_000
const throttlingMax = 1_000_000

/** Reads `RunOptions` (spec page §1.3 and §1.8); what is absent has EventBridge's defaults. */
export function translateRunOptions(
  place: Place,
  { sourceInstance, isKafkaSink }: { readonly sourceInstance: string | undefined; readonly isKafkaSink: boolean },
): Fields {
  const opened = openedAt(place)
  const isMissing = mappingAt(opened, '{ "ErrorsTolerance": "ALL" }') === undefined
  const options = fieldsAt(isMissing ? { ...opened, value: undefined } : opened, [
    'MaximumTasks',
    'ErrorsTolerance',
    'Throttling',
    'RetryStrategy',
    'DeadLetterQueue',
    'BatchWindow',
    'BusinessOption',
  ])
  const { MaximumTasks, ErrorsTolerance, Throttling, BusinessOption } = options
  ignoreAt([openedAt(BusinessOption)], 'ignored; nothing is charged here')
  const concurrency = numberAt(MaximumTasks, 1, tasksMax)
  comesFrom(MaximumTasks, 'concurrency')
  const tolerance = isSaid(ErrorsTolerance) ? wordAt(ErrorsTolerance, ['NONE', 'ALL']) : undefined
  comesFrom(ErrorsTolerance, 'faultTolerance')
  const perSecond = numberAt(Throttling, 1, throttlingMax)
  comesFrom(Throttling, 'rate')
  const batch = batchOf(options.BatchWindow, isKafkaSink)
  return {
    ...(concurrency === undefined ? {} : { concurrency }),
    retry: retryOf(options.RetryStrategy),
    ...(tolerance === undefined ? {} : { faultTolerance: tolerance === 'NONE' ? 'prohibited' : 'allowed' }),
    ...(batch === undefined ? {} : { batch }),
    ...(perSecond === undefined ? {} : { rate: `${perSecond}/s` }),
    deadLetter: translateDeadLetterQueue(options.DeadLetterQueue, sourceInstance) ?? 'none',
  }
}

const schedules = { BACKOFF_RETRY: 'backoff', EXPONENTIAL_DECAY_RETRY: 'exponential-decay' } as const

/** Rows B1 and B2. The limits stand beside the schedule's own, and whichever is reached first ends it. */
function retryOf(place: Place): Fields {
  const { PushRetryStrategy, MaximumRetryAttempts, MaximumEventAgeInSeconds } = fieldsAt(openedAt(place), [
    'PushRetryStrategy',
    'MaximumRetryAttempts',
    'MaximumEventAgeInSeconds',
  ])
  const strategy = isSaid(PushRetryStrategy)
    ? wordAt(PushRetryStrategy, ['BACKOFF_RETRY', 'EXPONENTIAL_DECAY_RETRY'])
    : undefined
  const schedule = schedules[strategy ?? 'BACKOFF_RETRY']
  const retries = numberAt(MaximumRetryAttempts, 0, attemptsMax)
  const seconds = numberAt(MaximumEventAgeInSeconds, 1, ageMaxSeconds)
  comesFrom(place, 'retry')
  comesFrom(MaximumRetryAttempts, 'retry', 'maxAttempts')
  comesFrom(MaximumEventAgeInSeconds, 'retry', 'timeToLive')
  const ownRetries = retryLimitsOf(schedule).maxAttempts - 1
  const isBeyond = retries !== undefined && retries > ownRetries
  if (isBeyond) {
    warnAt(MaximumRetryAttempts, `${retries} is never reached; ${strategy ?? 'BACKOFF_RETRY'} ends after ${ownRetries}`)
  }
  return {
    schedule,
    ...(retries === undefined || isBeyond ? {} : { maxAttempts: retries + 1 }),
    ...(seconds === undefined ? {} : { timeToLive: `${seconds}s` }),
  }
}

function batchOf(place: Place, isKafkaSink: boolean): Fields | undefined {
  const { CountBasedWindow, TimeBasedWindow } = fieldsAt(openedAt(place), ['CountBasedWindow', 'TimeBasedWindow'])
  const count = numberAt(CountBasedWindow, 1, countMax)
  const seconds = numberAt(TimeBasedWindow, 0, windowMaxSeconds)
  comesFrom(CountBasedWindow, 'batch', 'maxEvents')
  comesFrom(TimeBasedWindow, 'batch', 'window')
  if (count === undefined && !seconds) return undefined
  if (isKafkaSink) {
    if (count !== 1)
      warnAt(place, 'ignored; each event becomes a record of its own, and records travel together by themselves')
    return undefined
  }
  return {
    ...(count === undefined ? {} : { maxEvents: count }),
    // A batch of one is full with its first event, and waits for no other.
    ...(seconds && count !== 1 ? { window: `${seconds}s` } : {}),
  }
}

function numberAt(place: Place, min: number, max: number): number | undefined {
  return place.value === undefined ? undefined : readNumber(place.value, reportAt(place), min, max)
}
