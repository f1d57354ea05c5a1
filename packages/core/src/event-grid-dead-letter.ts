import type { Place } from './notation-place.ts'
import { comesFrom, fieldsAt, fieldsWithProperties, reportAt, textAt, warnAt, wordAt } from './notation-place.ts'
import { shown } from './subscription-field.ts'

const textLengthMax = 1_000

interface DeadLetterFields {
  readonly deadLetterDestination: Place
  readonly deadLetterWithResourceIdentity: Place
}

/** Reads the blob container of `deadLetterDestination`, or of the one with an identity; null without one (row A13). */
export function translateDeadLetter(fields: DeadLetterFields, isKubernetes: boolean): unknown {
  const { deadLetterDestination, deadLetterWithResourceIdentity } = fields
  if (isKubernetes) {
    for (const place of [deadLetterDestination, deadLetterWithResourceIdentity]) {
      if (place.value === undefined) continue
      const mend = 'take it out, and write `deadLetter: {}` beside `properties` for the dead-letter topic'
      reportAt(place)(`Event Grid on Kubernetes has no dead-lettering; ${mend}`)
    }
    return null
  }
  const place = placeOf(deadLetterDestination, deadLetterWithResourceIdentity)
  if (place.value === undefined) return null
  const { endpointType, resourceId, blobContainerName } = fieldsWithProperties(
    place,
    ['endpointType'],
    ['resourceId', 'blobContainerName'],
  )
  if (endpointType.value === undefined) reportAt(endpointType)('is missing; write StorageBlob')
  wordAt(endpointType, ['StorageBlob'], { ignoringCase: true })
  comesFrom(place, 'deadLetter')
  comesFrom(place, 'deadLetter', 'blob')
  comesFrom(resourceId, 'deadLetter', 'blob', 'account')
  comesFrom(blobContainerName, 'deadLetter', 'blob', 'container')
  if (blobContainerName.value === undefined) reportAt(blobContainerName)('is missing')
  return { blob: { account: accountOf(resourceId), container: textAt(blobContainerName, textLengthMax) } }
}

function placeOf(plain: Place, withIdentity: Place): Place {
  if (withIdentity.value === undefined) return plain
  const { identity, deadLetterDestination } = fieldsAt(withIdentity, ['identity', 'deadLetterDestination'])
  if (plain.value !== undefined) {
    reportAt(withIdentity)('stands beside deadLetterDestination; write only one of the two')
  }
  if (identity.value !== undefined) {
    warnAt(identity, "is ignored; the account's credentials are those of the dead-letter service")
  }
  return deadLetterDestination
}

/** The account is the name at the end of its resource id. */
function accountOf(resourceId: Place): string | undefined {
  if (resourceId.value === undefined) return reportAt(resourceId)('is missing')
  const id = textAt(resourceId, textLengthMax)
  if (id === undefined) return undefined
  const account = /(?:^|\/)storageAccounts\/([^/]+)\/?$/i.exec(id)?.[1]
  if (account !== undefined) return account
  const form = '/subscriptions/…/providers/Microsoft.Storage/storageAccounts/NAME'
  return reportAt(resourceId)(`${shown(id)} is not the resource id of a storage account; write ${form}`)
}
