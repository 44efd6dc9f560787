// Writes the example Sessions of this format version that are not in the tree yet:
// `node --import tsx test/vectors/make-sessions.ts`. Existing ones are never rewritten: later versions must open them.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DIALECT_NAMES } from '../support/providers/dialects.ts'
import { SESSIONS, writeExample } from './example-sessions.ts'

const root = await mkdtemp(join(tmpdir(), 'hawser-examples-'))
try {
  for (const dialect of DIALECT_NAMES) {
    const written = await writeExample(SESSIONS, dialect, join(root, dialect))
    console.log(`${dialect}: ${written ? 'written' : 'there already, left as it is'}`)
  }
} finally {
  await rm(root, { recursive: true, force: true })
}
