/**
 * Who may import whom: the import matrix as data, and the rules made of it.
 * `pnpm check:imports` fails on every arrow that is not here; scripts/import-matrix.test.ts tries one of each kind.
 */

/** The workspace packages that each one may import; by their public entry only, never by a file inside. */
export const importMatrix = {
  'packages/core': [],
  'packages/kafka': ['packages/core'],
  'packages/webhook': ['packages/core'],
  'packages/kafka-sink': ['packages/core', 'packages/kafka'],
  'packages/runtime': [],
  'packages/local-kafka': [],
  'packages/delivery': ['packages/core', 'packages/kafka'],
  'packages/registry': ['packages/core', 'packages/kafka'],
  'packages/host': [
    'packages/core',
    'packages/kafka',
    'packages/webhook',
    'packages/kafka-sink',
    'packages/runtime',
    'packages/delivery',
    'packages/registry',
  ],
  'services/dispatcher': ['packages/*'],
  'services/retrier': ['packages/*'],
  'services/dead-letter': ['packages/*'],
  'services/cli': ['packages/*'],
  'services/standalone': ['packages/*', 'services/*'],
  test: ['packages/*', 'services/*'],
  scripts: ['packages/*'],
}

/** Libraries that one package alone knows, so that replacing one touches one package. Tests in test/ may use them too. */
export const libraryOwners = {
  kafkajs: 'packages/kafka',
  undici: 'packages/webhook',
  pino: 'packages/runtime',
  'prom-client': 'packages/runtime',
  testcontainers: 'packages/local-kafka',
  commander: 'services/cli',
  '@azure/identity': 'services/dead-letter',
  'fast-xml-parser': 'services/dead-letter',
  '@azure/storage-blob': 'services/dead-letter',
}

/** What the sources of the core may import besides themselves. Node's own modules are not among it. */
const coreLibraries = ['zod']

/** What only tests import. */
const testLibraries = [
  'vitest',
  'fast-check',
  'cloudevents',
  '@azure/eventgrid',
  '@alicloud/eventbridge',
  '@alicloud/mns',
]

/** Unit tests beside the sources, and what they share (`test-receiver.ts`). */
const unitTest = '\\.test\\.ts$|/test-[^/]+\\.ts$'
const packageEntry = '^packages/[^/]+/src/index\\.ts$'
const serviceEntry = '^services/[^/]+/(open|main)\\.ts$'

/** A library wherever it is installed; the bare name is how an import that does not resolve appears. */
const library = (/** @type {string} */ name) => `(^|(^|/)node_modules/)${name.replaceAll('.', '\\.')}(/|$)`

const entryOf = (/** @type {string} */ unit) => {
  if (unit === 'packages/*') return packageEntry
  if (unit === 'services/*') return serviceEntry
  return `^${unit}/src/index\\.ts$`
}

const arrowsOf = (/** @type {[string, string[]]} */ [unit, targets]) => ({
  name: `imports-of-${unit.replace('/', '-')}`,
  comment: `${unit} may import ${targets.join(', ') || 'no workspace package'}; packages by their index.ts, services by their entry only.`,
  severity: 'error',
  from: { path: `^${unit}/` },
  to: { path: '^(packages|services|test|scripts)/', pathNot: [`^${unit}/`, ...targets.map(entryOf)] },
})

const ownerOf = (/** @type {[string, string]} */ [name, unit]) => ({
  name: `only-${unit.replace('/', '-')}-imports-${name}`,
  comment: `${name} is known to ${unit} alone; ask that package for what you need.`,
  severity: 'error',
  from: { pathNot: [`^${unit}/`, '^test/'] },
  to: { path: library(name) },
})

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...Object.entries(importMatrix).map(arrowsOf),
    ...Object.entries(libraryOwners).map(ownerOf),
    {
      name: 'unknown-to-the-matrix',
      comment: 'A new package or service gets a line in importMatrix (.dependency-cruiser.mjs) first.',
      severity: 'error',
      from: { path: '^(packages|services)/', pathNot: Object.keys(importMatrix).map((unit) => `^${unit}/`) },
      to: {},
    },
    {
      name: 'core-is-pure',
      comment: `The sources of packages/core import ${coreLibraries.join(', ')} and nothing else: no other library, no module of Node.`,
      severity: 'error',
      from: { path: '^packages/core/', pathNot: unitTest },
      to: { pathNot: ['^packages/core/', ...coreLibraries.map(library)] },
    },
    {
      name: 'sources-do-not-import-tests',
      comment: 'Only a test imports what was written for tests.',
      severity: 'error',
      from: { path: '^(packages|services|scripts)/', pathNot: unitTest },
      to: { path: unitTest, pathNot: 'node_modules' },
    },
    {
      name: 'test-libraries-in-tests-only',
      comment: `${testLibraries.join(', ')} are for *.test.ts, test/ and the configuration of the tests.`,
      severity: 'error',
      from: { path: '^(packages|services)/', pathNot: unitTest },
      to: { path: testLibraries.map(library) },
    },
    {
      name: 'no-cycles',
      comment: 'Files that import each other cannot be read, tested or replaced one by one.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-unresolved-imports',
      comment:
        'What an import names must be there: the library stands in the package.json of the package that imports it.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)node_modules/[.]bin/' },
    // Type imports are arrows too.
    tsPreCompilationDeps: true,
    parser: 'tsc',
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.mjs', '.js', '.json', '.d.ts'],
    },
  },
}
