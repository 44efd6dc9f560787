import { expect, test } from 'vitest'
import { portOffences } from './port-checks.ts'
import { readTree } from './tree.ts'

test('only its owners import an implementation of a port, and nothing above names its files', async () => {
  expect(portOffences(await readTree())).toEqual([])
})

test('an import of an implementation is found, also in the folder above it, and not in a test', () => {
  const tree = new Map([
    ['src/log/files/names.ts', ''],
    ['src/log/files/file-logs.ts', "import { logName } from './names.ts'\n"],
    ['src/log/open.ts', "import { one } from './files/names.ts'\n"],
    ['src/compose/engine.ts', "import { logName } from '../log/files/names.ts'\n"],
    ['src/session/list.ts', "import { one } from '../log/files/names.ts'\n"],
    ['src/session/list.test.ts', "import { logName } from '../log/files/names.ts'\n"],
    [
      'src/presenters/cli/gc.ts',
      "const { one } = await import('../../blobs/workspace-store.ts')\n",
    ],
  ])
  const table = { 'log/files/': ['compose/'], 'blobs/workspace-store.ts': ['compose/'] }
  expect(portOffences(tree, table)).toEqual([
    'src/log/open.ts imports src/log/files/names.ts, an implementation of a port',
    'src/session/list.ts imports src/log/files/names.ts, an implementation of a port',
    'src/presenters/cli/gc.ts imports src/blobs/workspace-store.ts, an implementation of a port',
  ])
})

test.each([
  ['session', 'const name = `${session}.ndjson`', '.ndjson`'],
  ['turn', "const name = `${session}${'.lease'}`", ".lease'"],
  ['request', "name.includes('.torn-')", ".torn-'"],
  ['session', 'const name = `${session}.deleted`', '.deleted`'],
  ['tether/instances', 'await folder.remove(hiddenName(session))', 'hiddenName'],
  ['presenters/cli', "await own.folder('sessions', 'open')", ".folder('sessions'"],
  ['presenters/http', "const path = join(workspace, '.hawser/blobs')", '.hawser/blobs'],
  ['tether/instances', 'const { sessions } = await recordFolders(own)', 'recordFolders'],
  ['tether/server', 'await inBlobsOf(place, work)', 'inBlobsOf'],
  ['tools', "import { open } from 'node:fs/promises'", "'node:fs"],
  ['resources', 'const source = folderSource(folder)', 'folderSource'],
  ['log', 'const name = `${session}.ndjson`', '.ndjson`'],
  ['log/lifecycle', "await folder.open(`${parent}.lease`, 'read')", '.lease`'],
  ['blobs', "import { stat } from 'node:fs/promises'", "'node:fs"],
  ['skills', "await own.folder('blobs', 'open')", ".folder('blobs'"],
])('in %s, the words %s are found', (folder, text, word) => {
  const path = `src/${folder}/one.ts`
  expect(portOffences(new Map([[path, `${text}\n`]]))).toEqual([
    `${path} names files behind a port: ${word}`,
  ])
})

test.each(['log/lifecycle', 'blobs', 'tether/frames', 'turn'])(
  'in %s, a folder or a file is found',
  (folder) => {
    const path = `src/${folder}/one.ts`
    const text = "import { closing, type Folder } from '../host/files/files.ts'\n"
    expect(portOffences(new Map([[path, text]]))).toEqual([
      `${path} takes a folder or a file; only the ports may`,
    ])
    const allowed = "import { FileFailure, readSpan } from '../host/files/files.ts'\n"
    expect(portOffences(new Map([[path, allowed]]))).toEqual([])
  },
)

test('an implementation may name its own files', () => {
  const own = "const name = 'a.ndjson'\nawait home.folder('frames', 'open')\n"
  const tree = new Map([
    ['src/tether/frames/files/one.ts', own],
    ['src/tether/records/files/one.ts', own],
    ['src/log/files/one.ts', own],
  ])
  expect(portOffences(tree)).toEqual([])
})
