export { didYouMean } from './nearest-name.ts'
export { isClusterName, readKafkaClusters } from './kafka-clusters.ts'
export type { ClusterTlsFiles, KafkaCluster, KafkaClusters, ReadKafkaClusters } from './kafka-clusters.ts'
export { readApiDestinations } from './api-destinations.ts'
export type { ApiDestination, ApiDestinations, ReadApiDestinations } from './api-destinations.ts'
export { advancedOperators } from './advanced-operators.ts'
export { batchLength } from './batch.ts'
export type { BatchLimits } from './batch.ts'
export { parseCommand } from './command.ts'
export type { Command } from './command.ts'
export { compareTopic, describeDifference } from './compare-topic.ts'
export type { FoundTopic, TopicDifference } from './compare-topic.ts'
export { blobLimits } from './dead-letter-blob-limits.ts'
export { blobGroupTarget, blobLetterOf, blobPath, blobTargetText } from './dead-letter-blob.ts'
export type { BlobLetter, BlobTarget } from './dead-letter-blob.ts'
export { deadLetterJson, deadLetterProperties, decodeDeadLetter, unknownShape } from './dead-letter-json.ts'
export type { DeadLetterShape } from './dead-letter-json.ts'
export { deadLetterRecords } from './dead-letter.ts'
export type { DeadLetter } from './dead-letter.ts'
export {
  decodeRetryHeaders,
  deliveryHeaders,
  parseRfc3339,
  retryHeaders,
  rfc3339,
  withoutOwnHeaders,
} from './delivery-headers.ts'
export type { DecodedRetryHeaders, DeliveryHeader, KnownState } from './delivery-headers.ts'
export { decodeInput } from './decode-input.ts'
export type { InputSchema } from './decode-input.ts'
export { headersMax, headerValueBytesMax, headerValueOf, headerValueProblem, textAt } from './delivery-attributes.ts'
export type { DeliveryAttribute } from './delivery-attributes.ts'
export { destinationForDisplay } from './destination.ts'
export { afterAttempt, newDeliveryState } from './delivery-state.ts'
export type { DeliveryState, SourcePosition } from './delivery-state.ts'
export { binaryData } from './event-data.ts'
export type { BinaryData } from './event-data.ts'
export { endpointMark, healthKey, healthValue, parseHealth, presenceKey, takenOverMax } from './health-record.ts'
export type { HealthRecord } from './health-record.ts'
export { eventJson, eventJsonBytes } from './event-json.ts'
export { eventGridJson } from './event-to-event-grid.ts'
export { structuredJson } from './event-to-structured.ts'
export { writeEventGrid } from './event-grid-writing.ts'
export type { EventGridDocument } from './event-grid-writing.ts'
export { writeEventBridge } from './eventbridge-writing.ts'
export type { EventBridgeDocument } from './eventbridge-writing.ts'
export { decodeEvent } from './event.ts'
export { formatDuration, parseDuration } from './duration.ts'
export type { CloudEvent, DecodedEvent, ForeignEvent } from './event.ts'
export type { EventGridEnvelope } from './event-grid-members.ts'
export { compileFilter } from './filter.ts'
export type { Filter } from './filter.ts'
export { names, topicNameProblem } from './names.ts'
export type { Names } from './names.ts'
export { nearestName } from './nearest-name.ts'
export { createOffsetTracker } from './offset-tracker.ts'
export type { OffsetTracker, OpenRecord } from './offset-tracker.ts'
export { outcomeOfStatus, outcomes } from './outcome.ts'
export type { AttemptReport, AttemptResult, Outcome } from './outcome.ts'
export { createCommand, heldTopic, minInsyncReplicas, ownTopics } from './own-topics.ts'
export type { OwnTopic, OwnTopicsOptions } from './own-topics.ts'
export { parseSubscription, problemOf } from './parse-subscription.ts'
export type { InvalidSubscription, ParseOptions, ReadSubscription, ValidSubscription } from './parse-subscription.ts'
export { planApply } from './plan-apply.ts'
export type { ApplyInput, ApplyPlan, PartitionRange } from './plan-apply.ts'
export {
  afterEndByHand,
  afterFailure,
  afterSuccess,
  eventMark,
  healthy,
  isFailure,
  probationOf,
  takenOver,
  trialWindow,
} from './probation.ts'
export type { Health, Probation } from './probation.ts'
export { probationCauses, probationDefaults } from './probation-policy.ts'
export type { ProbationPolicy } from './probation-policy.ts'
export { countedAttempts, verdictOnProbation } from './probation-skip.ts'
export type { HeaderValue, KafkaRecord, OutgoingRecord, RecordHeaders, TopicPartition } from './record.ts'
export {
  lateAnswerWithinMs,
  lateSuccessKeptMs,
  lateSuccessValue,
  parseLateSuccess,
  progressKey,
} from './late-success.ts'
export type { LateSuccess } from './late-success.ts'
export { parseRedriveMark, redriveMarkRecord } from './redrive-mark.ts'
export type { RedriveMark } from './redrive-mark.ts'
export { planRedrive, redriveRefusals, redrivesMaxDefault } from './redrive.ts'
export type { PlannedRedrive, RedriveOptions, RedriveRefusal } from './redrive.ts'
export { obeyingRetryAfter, parseRetryAfter } from './retry-after.ts'
export { afterAddress, forbiddenInARowMax, forbiddenText } from './forbidden-streak.ts'
export type { ForbiddenStreak } from './forbidden-streak.ts'
export { newBucket, refilled, requestsPerMinute, shareOf, shareOfRate, untilTokenMs, withoutToken } from './rate.ts'
export type { OwnedPartitions, Rate, TokenBucket } from './rate.ts'
export { rateToKeep } from './rate-to-keep.ts'
export { endpointKinds, retryLimitsOf, retryPolicyOf, retryPresets } from './retry-policy.ts'
export type { DelayStep, EventGridDefaults, RetryPolicy, RetryPreset, RetrySpec } from './retry-policy.ts'
export { sameSubscription } from './same-subscription.ts'
export { startOffsetOf } from './start-offsets.ts'
export type { StartOffsets } from './start-offsets.ts'
export { isResting, restedMs } from './resting.ts'
export { nextStatus, parseStatus, subscriptionStatuses } from './status.ts'
export type { StatusChange, StatusRecord, SubscriptionStatus, WantedStatus } from './status.ts'
export { transformedParts } from './transformed-parts.ts'
export type { ImpossibleParts, TransformedParts } from './transformed-parts.ts'
export type { Transform } from './transform.ts'
export { transformForms } from './subscription-transform.ts'
export { testPattern } from './tried-pattern.ts'
export type { PatternFieldResult } from './pattern.ts'
export { patternOperators } from './pattern-operators.ts'
export { parseStoredSubscription, storedValue } from './stored-subscription.ts'
export type { StoredSubscription, SubscriptionLife } from './stored-subscription.ts'
export type { SubscriptionProblem } from './subscription-field.ts'
export { knownFields } from './subscription-schema.ts'
export type { WrittenSubscription } from './subscription-schema.ts'
export { deliverySchemas, eventInputs, isEventGridNotation, notations, schemasOf } from './schemas.ts'
export type { DeliverySchema, EventInput, Notation } from './schemas.ts'
export type { RequestShape, Subscription } from './subscription.ts'
export { handshakeForms } from './handshake-form.ts'
export type { HandshakeForm, MadeHandshakeForm } from './handshake-form.ts'
export {
  afterAnswer,
  afterCall,
  awaitsHandshake,
  beginHandshake,
  failedText,
  handshakeTimes,
  pendingText,
  resumedHandshake,
  whenDue,
} from './handshake.ts'
export type { Callback, Handshake, HandshakeTimes, PendingHandshake } from './handshake.ts'
export { handshakeAnswer, parseAllowedRate } from './handshake-answer.ts'
export type { AllowedRate, HandshakeAnswer, HandshakeAsked, HandshakeReply } from './handshake-answer.ts'
export { deletionRequest, handshakeRequest } from './handshake-request.ts'
export type { HandshakeToMake, PlainRequest } from './handshake-request.ts'
export { inMemoryRestMs, leavesTierAt, tierFor, tierPartition } from './tier-choice.ts'
export type { Tier } from './tier-choice.ts'
export { tiers } from './tiers.ts'
export type { TierName } from './tiers.ts'
export { deadLetterReasons, verdictAfterAttempt, verdictWhenDue } from './verdict.ts'
export type { DeadLetterReason, Handling, Verdict } from './verdict.ts'
export { commitMetadataRoom, decodeCommitMetadata, encodeCommitMetadata, plainLabel } from './commit-metadata.ts'
export type { CommitLabel } from './commit-metadata.ts'
export { offsetsOutside } from './offset-ranges.ts'
export type { OffsetRange } from './offset-ranges.ts'
export { createPlacedList } from './placed-list.ts'
export type { Placed } from './placed-list.ts'
export { noGeneration, startPlace, startPlaceWithoutLives } from './start-place.ts'
export type { FoundPartition, KnownPlace, StartPlace } from './start-place.ts'
export { stopsWithoutRequest, verdictWithoutRequest } from './without-request.ts'
