import { expect, test } from 'vitest'
import { parseJavaVersion } from './java.ts'

test.each([
  ['openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment (build 17.0.15+6)', 17, '17.0.15'],
  ['java version "1.8.0_292"\nJava(TM) SE Runtime Environment', 8, '1.8.0_292'],
  ['openjdk version "25" 2025-09-16 LTS', 25, '25'],
  ['openjdk version "26-ea" 2026-03-17', 26, '26-ea'],
  ['Picked up JAVA_TOOL_OPTIONS: -Dx=1\nopenjdk version "21.0.2" 2024-01-16', 21, '21.0.2'],
])('the version in %j is major %i', (output, major, version) => {
  expect(parseJavaVersion(output)).toEqual({ major, version })
})

test.each(['', 'The operation couldn’t be completed. Unable to locate a Java Runtime.', 'openjdk version "unknown"'])(
  '%j names no version',
  (output) => {
    expect(parseJavaVersion(output)).toBeNull()
  },
)
