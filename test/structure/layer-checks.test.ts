import { expect, test } from 'vitest'
import { layerOffences } from './layer-checks.ts'

const TABLE = {
  'main.ts': ['src'],
  turn: ['log', 'model', 'log/lines', 'providers/provider.ts'],
  'presenters/*': ['model'],
  log: ['model'],
  model: [],
}
const FILES = {
  'src/main.ts': '',
  'src/main.test.ts': '',
  'src/turn/run.ts': '',
  'src/presenters/cli/run.ts': '',
  'src/log/append.ts': '',
  'src/model/ids.ts': '',
}
const README = `# Layers

Words before the first section, with \`src/gone\`.

## Above

**\`main\`** starts. May import all of \`src\`. Read \`src/main.ts\` first.

**\`presenters\`** show. May import \`model\`. Read \`src/presenters/cli/run.ts\` first.

**\`turn\`** runs a Turn, which ends. May import \`model\`, \`log\`,
\`log/lines\` and \`providers/provider.ts\`. Read \`src/turn/run.ts\` first: it is the loop.

## Below

**\`log\`** is the Log. May import \`model\`. Read \`src/log/append.ts\` first.

**\`model\`** has the words. Imports nothing. Read \`src/model/ids.ts\` first.
`

const offences = (readme: string, files: Record<string, string> = FILES) =>
  layerOffences(new Map(Object.entries({ ...files, 'src/README.md': readme })), TABLE)

test('a list of all layers with the imports of the table and a first file is accepted', () => {
  expect(offences(README)).toEqual([])
})

test('without src/README.md, no layer is described', () => {
  expect(layerOffences(new Map(Object.entries({ 'src/log/append.ts': '' })), TABLE)).toEqual([
    'src/README.md does not describe log',
  ])
})

test('a new folder that is not described is an offence', () => {
  expect(offences(README, { ...FILES, 'src/fleet/hosts.ts': '' })).toEqual([
    'src/README.md does not describe fleet',
  ])
})

test('a layer that does not exist, or is described twice, is an offence', () => {
  const more = '\n**`contract`** is old. Imports nothing. Read `src/model/ids.ts` first.\n'
  expect(offences(README + more)).toEqual([
    'src/README.md describes contract, which does not exist',
  ])
  const again = '\n**`model`** has the words. Imports nothing. Read `src/model/ids.ts` first.\n'
  expect(offences(README + again)).toEqual(['src/README.md describes model twice'])
})

test('an import that the table has and the list has not, or the other way round, is an offence', () => {
  expect(offences(README.replace('`log`,\n', ''))).toEqual([
    'src/README.md does not say that turn may import log',
  ])
  expect(offences(README.replace('Imports nothing', 'May import `encoding`'))).toEqual([
    'src/README.md says that model may import encoding; the import table does not',
  ])
})

test('a layer that imports one of a section above its own is an offence', () => {
  const [above = '', below = ''] = README.split(/(?=## Below)/)
  expect(offences(`${below}\n${above}`)).toEqual([
    'presenters imports model, which src/README.md lists in a section above',
    'turn imports log, which src/README.md lists in a section above',
    'turn imports model, which src/README.md lists in a section above',
  ])
})

test('the file to read first exists, in the layer', () => {
  for (const path of ['src/log/gone.ts', 'src/model/ids.ts']) {
    expect(offences(README.replace('src/log/append.ts', path))).toEqual([
      'src/README.md names no file of log to read first',
    ])
  }
})
