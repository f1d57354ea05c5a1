import { kafkaRecordDefault, recordValueTypes } from './kafka-record-event.ts'
import type { KafkaRecordInput, RecordValueType } from './kafka-record-event.ts'
import { didYouMean } from './nearest-name.ts'
import type { Report } from './subscription-field.ts'
import { field, mapping, readText, shown } from './subscription-field.ts'

const instanceLengthMax = 256

/** `kafkaRecord` as a person writes it. */
export const kafkaRecordSchema = mapping({
  valueType: field(readValueType).optional(),
  instance: field(readInstance).optional(),
})

/** What was written of it; what is absent has its default. */
export type WrittenKafkaRecord = { readonly [Name in keyof KafkaRecordInput]?: KafkaRecordInput[Name] | undefined }

/** What it means: whatever is not written has its default. */
export function kafkaRecordOf(written: 'none' | WrittenKafkaRecord = 'none'): KafkaRecordInput {
  const { valueType, instance } = written === 'none' ? ({} as WrittenKafkaRecord) : written
  return {
    valueType: valueType ?? kafkaRecordDefault.valueType,
    instance: instance ?? kafkaRecordDefault.instance,
  }
}

function readValueType(value: unknown, report: Report): RecordValueType | undefined {
  const valueType = recordValueTypes.find((each) => each === value)
  if (valueType !== undefined) return valueType
  return report(
    `${shown(value)} is not known; one of ${recordValueTypes.join(', ')}${didYouMean(value, recordValueTypes)}`,
  )
}

function readInstance(value: unknown, report: Report): string | undefined {
  const instance = readText(value, report, instanceLengthMax)
  if (instance === undefined || /^[\w.-]+$/.test(instance)) return instance
  return report(`${shown(instance)} is not the id of an instance; letters, digits, ".", "_" and "-"`)
}
