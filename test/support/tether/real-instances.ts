import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { composeInstances } from '../../../src/compose/instances.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { openHome } from '../../../src/host/home.ts'
import { systemIds } from '../../../src/host/ids.ts'
import type { Frame } from '../../../src/model/tether/frame.ts'
import type { Tether } from '../../../src/tether/tether.ts'
import { freshFolder } from '../host/folder.ts'
import { guestProgram } from '../cli/guest-bundle.ts'
import { value } from '../log/story.ts'

export interface RealInstancesOptions {
  readonly root?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Instances with real guests, with the offline model unless the environment names another. */
export async function realInstances({ root: given, env }: RealInstancesOptions = {}) {
  const root = given ?? (await freshFolder())
  const [path, workspace] = [join(root, 'home'), join(root, 'workspace')]
  await mkdir(workspace, { recursive: true })
  const home = value(await openHome(path))
  const notes: Readonly<Record<string, unknown>>[] = []
  const { tether: instances, close: closeInstances } = value(
    await composeInstances({
      home: home.own,
      path,
      env: env ?? { HAWSER_PROVIDER: 'rehearsal' },
      clock: systemClock,
      ids: systemIds(systemClock),
      note: (entry) => void notes.push(entry),
      program: await guestProgram(),
    }),
  )
  let closing: Promise<void> | undefined
  const close = () =>
    (closing ??= (async () => {
      await closeInstances()
      await home.close()
    })())
  onTestFinished(close)
  return { instances, root, home: path, workspace, notes, close }
}

/** Waits for the end of a message. */
export async function endOf(instances: Tether, name: string, msg_id: string): Promise<Frame> {
  const types = ['assistant.done', 'error']
  const query = { after_seq: 0, types, reply_to_msg_id: msg_id }
  for (;;) {
    const { frames } = value(await instances.poll(name, query, { waitMs: 30_000 }))
    if (frames[0] !== undefined) return frames[0]
  }
}
