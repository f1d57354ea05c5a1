import module from 'node:module'
import { fileURLToPath } from 'node:url'

// Loaded before every entry point: says in a sentence what an older Node would say with a stack trace.
const major = Number(process.versions.node.split('.')[0])
if (major < 24) {
  process.stderr.write(
    `Barnabas needs Node.js 24 or newer; this is ${process.version}.\n` +
      'On Linux x64 `npx -y pnpm@10 install` brings it along; elsewhere install it from https://nodejs.org or with your version manager.\n',
  )
  process.exit(1)
}

// Each file is compiled at the first start alone; where nothing can be written, at every start.
module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)))
