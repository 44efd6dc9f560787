import { expect, test } from 'vitest'
import { portOffences } from './port-checks.ts'
import { readTree } from './tree.ts'

test('only its owners import an implementation of a port, and nothing above names its files', async () => {
  expect(portOffences(await readTree())).toEqual([])
})

test('an import of an implementation and a name of a file are found', () => {
  const tree = new Map([
    ['src/log/files/names.ts', ''],
    ['src/compose/engine.ts', "import { logName } from '../log/files/names.ts'\n"],
    ['src/session/list.ts', "import { one } from '../log/files/names.ts'\n"],
    ['src/turn/run.ts', 'const name = `${session}.ndjson`\n'],
    ['src/session/list.test.ts', "import { logName } from '../log/files/names.ts'\n"],
  ])
  expect(portOffences(tree, { 'log/files/': ['log', 'compose'] })).toEqual([
    'src/session/list.ts imports src/log/files/names.ts, an implementation of a port',
    'src/turn/run.ts names files of a Log: .ndjson`',
  ])
})
