import { execFile } from 'node:child_process'
import { existsSync, globSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { environmentVariables } from '@barnabas/runtime'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { anchors, codeBlocks, codeSpans, differences, page, tableOf } from './markdown.ts'

/** What the pages tell people to type, to set and to read exists. */
const root = join(import.meta.dirname, '..')
const docs = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'))
const pages = ['README.md', 'CONTRIBUTING.md', ...docs.map((name) => `docs/${name}`)]

const sources = globSync('{packages,services,test}/**/*.ts', {
  cwd: root,
  exclude: (path) => path.endsWith('node_modules'),
})

const scripts = Object.keys((JSON.parse(page('package.json')) as { scripts: Record<string, string> }).scripts)
/** Commands of pnpm itself. */
const pnpmCommands = ['exec', 'install', 'run']

/** The commands in blocks of shell, without what is set before them. */
const typed = pages.flatMap((path) =>
  codeBlocks(page(path))
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.split('\n'))
    .map((command) => ({ path, command })),
)

test.each(pages)('%s: every pnpm command is a script or a command of the command line', async (path) => {
  const code = [...typed.flatMap((each) => (each.path === path ? [each.command] : [])), ...codeSpans(page(path))]
  const words = code.flatMap((text) => [...text.matchAll(/pnpm(?:@10)? (?!@)([\w:-]+)/g)].map(([, word = '']) => word))
  expect(words.filter((word) => ![...scripts, ...pnpmCommands, 'barnabas'].includes(word))).toEqual([])
})

test(
  'every command of the command line that a page shows exists, and each is in the reference',
  { timeout: 60_000 },
  async () => {
    const [commands, deadLetters] = await Promise.all([commandsOf([]), commandsOf(['dead-letters'])])
    const all = [
      ...commands.filter((name) => name !== 'dead-letters'),
      ...deadLetters.map((name) => `dead-letters ${name}`),
    ]
    const documented = [...tableOf(page('docs/configuration.md'), 'Commands').keys()].map(
      (usage) => /^barnabas ((?:[a-z-]+ ?)+)/.exec(usage)?.[1]?.replace(/ -.*| $/, '') ?? usage,
    )
    const keys = (names: readonly string[]) => new Map(names.map((name) => [name, {}]))
    expect(differences('commands', keys(documented), keys(all))).toBe('')
    for (const { path, command } of typed) {
      const [, name, below = ''] = /pnpm@10 barnabas ([a-z-]+)(?: ([a-z-]+))?/.exec(command) ?? []
      if (name === undefined) continue
      expect(all, `${path}: ${command}`).toContain(name === 'dead-letters' ? `${name} ${below}` : name)
    }
  },
)

test('the first steps in the README are those that `start` prints', () => {
  const printed = page('services/standalone/first-steps.ts')
  const steps = codeBlocks(page('README.md'), 'Your own first event').slice(0, 3)
  for (const { text } of steps) expect(printed).toContain(text.trim())
})

test('every service that the README starts or scales with docker compose is there', () => {
  const { services } = parse(page('docker-compose.yml')) as { services: Record<string, unknown> }
  const scaled = typed.flatMap(({ command }) =>
    [...command.matchAll(/--scale ([\w-]+)=/g)].map(([, name = '']) => name),
  )
  expect(scaled).not.toEqual([])
  expect(Object.keys(services)).toEqual(expect.arrayContaining(scaled))
})

test.each(pages)('%s: every variable is one that Barnabas reads', (path) => {
  const known = environmentVariables.flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name]))
  const named = page(path).match(/\b(?:BARNABAS|KAFKA)_[A-Z_<>]+[A-Z>]/g) ?? []
  // `BARNABAS_BLOB_<ACCOUNT>_KEY` stands for the variable of every account.
  const patterns = known.map((name) => new RegExp(`^${name.replace(/<[A-Z]+>/, '[A-Z0-9_]+')}$`))
  expect(named.filter((name) => !known.includes(name) && !patterns.some((pattern) => pattern.test(name)))).toEqual([])
})

test.each(pages)('%s: every file that it names is there', (path) => {
  const files = codeSpans(page(path)).filter((code) =>
    /^(packages|services|scripts|test|docs)\/[\w./-]+\.\w+$/.test(code),
  )
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([])
})

test.each(pages)('%s: every link within the repository leads somewhere', (path) => {
  const targets = [...page(path).matchAll(/\]\((?!https?:)([^)]+)\)/g)].map(([, target = '']) => target)
  const broken = targets.filter((target) => {
    const [file = '', anchor] = target.split('#')
    const linked = file === '' ? path : join(dirname(path), file)
    if (!existsSync(join(root, linked))) return true
    return anchor !== undefined && !anchors(page(linked)).has(anchor)
  })
  expect(broken).toEqual([])
})

test('every row that a comment or a test cites is in docs/requirements.md', () => {
  const requirements = page('docs/requirements.md')
  const rows = new Set([...requirements.matchAll(/^\| ([A-D]\d{1,2}) /gm)].map(([, row = '']) => row))
  const cited = sources.flatMap((file) =>
    [...page(file).matchAll(/\b[Rr]ows? ((?:[A-D]\d{1,2}(?:, | and )?)+)/g)].flatMap(([, list = '']) =>
      list
        .split(/, | and /)
        .filter((row) => row !== '' && !rows.has(row))
        .map((row) => `${file}: ${row}`),
    ),
  )
  expect(rows.size).toBe(39)
  expect(cited.join('\n')).toBe('')
})

/** The commands below one, as its own help lists them. */
async function commandsOf(path: readonly string[]): Promise<readonly string[]> {
  const cli = join(root, 'services/cli/bin/barnabas')
  const { stdout } = await promisify(execFile)(process.execPath, [cli, ...path, '--help'])
  const [, list = ''] = stdout.split('Commands:\n')
  return [...(list.split('\n\n')[0] ?? '').matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = '']) => name)
}
