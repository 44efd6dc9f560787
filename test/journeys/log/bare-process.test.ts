import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { SessionId } from '../../../src/model/ids.ts'
import { diskPlace } from '../../support/log/disk-place.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { newJournal, StoryWriter } from '../../support/log/story.ts'

const run = promisify(execFile)
const script = fileURLToPath(new URL('../../support/log/bare-writer.ts', import.meta.url))

/** A process that does nothing else, so only what it waits for keeps it alive. */
async function bare(path: string, session: SessionId): Promise<unknown> {
  const { stdout } = await run(process.execPath, ['--import', 'tsx', script, path, session])
  return JSON.parse(stdout)
}

test('a process that only waits for the Log stays alive until the append returns', async () => {
  const path = join(await freshFolder(), 'place')
  const storage = await diskPlace(path)
  onTestFinished(() => storage.close())
  const storyWriter = new StoryWriter(storage, newJournal())
  await storyWriter.begin()
  const session = SessionId.parse(storyWriter.journal.session)
  expect(await bare(path, session)).toEqual({ taken: false, kind: 'session_busy' })
  await storyWriter.end()
  expect(await bare(path, session)).toEqual({ taken: true, appended: true })
})
