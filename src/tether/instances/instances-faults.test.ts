import { appendFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CrashDisk, PowerCut } from '../../../test/support/host/crash-disk.ts'
import { freshFolder } from '../../../test/support/host/folder.ts'
import {
  guests,
  cancel,
  ended,
  ends,
  inState,
  instancesPlace,
  makeWorkspace,
  message,
} from '../../../test/support/tether/instances-place.ts'
import { value } from '../../../test/support/log/story.ts'
import { until } from '../../../test/support/host/virtual-clock.ts'
import { sha256 } from '../../encoding/hash.ts'
import type { Folder } from '../../host/files/files.ts'
import { systemIds } from '../../host/ids.ts'

/** An Instance `a` whose home is on a disk that fails when a test says so. */
async function onDisk(disk: CrashDisk, root: string, isNew = true) {
  const place = await instancesPlace({ root, folder: disk.folder(), stays: true })
  const workspace = await makeWorkspace(root)
  if (isNew) value(await place.instances.create({ handle: 'a', workspace }, 'operator'))
  return { ...place, disk }
}

describe('a frame of a guest that cannot be stored', () => {
  test.each(['fullAtWrite', 'badSyncAt'] as const)(
    'stops the guest, and the next one says it again (%s)',
    async (fault) => {
      const place = await onDisk(new CrashDisk(1), await freshFolder())
      const { instances, runtime, disk, clock } = place
      value(await instances.send('a', message('m1')))
      await inState(instances, 'running')
      disk.injectFaults({ [fault]: 1 })
      const first = runtime.guest
      await expect(first.answer('m1')).rejects.toThrow(/frame log/)
      disk.injectFaults({})
      first.crash('internal')
      await until(() => clock.pending().includes(500))
      clock.advance(500)
      await guests(runtime, 2)
      expect(runtime.guest.messages()).toEqual(['m1'])
      await runtime.guest.answer('m1', 'Again.')
      expect(await ends(instances, 'm1')).toEqual(['Again.'])
    },
  )
})

test('what was spent counts for the next guest, also if it could not be recorded', async () => {
  const { instances, runtime, disk, clock } = await onDisk(new CrashDisk(1), await freshFolder())
  value(await instances.send('a', message('m1')))
  await inState(instances, 'running')
  const first = runtime.guest
  disk.injectFaults({ fullAtWrite: 1 })
  const total = { calls: 1, usd: 9.9, estimatedUsd: 0, unpricedCalls: 0 }
  expect(await first.order.spend.save(total)).toMatchObject({ ok: false })
  disk.freeSpace()
  first.crash()
  await until(() => clock.pending().includes(500))
  clock.advance(500)
  await guests(runtime, 2)
  expect(runtime.guest.order.spend.total).toEqual(total)
})

describe('a message that cannot be stored', () => {
  test.each(['fullAtWrite', 'badSyncAt'] as const)('is refused (%s)', async (fault) => {
    const { instances, disk, runtime } = await onDisk(new CrashDisk(1), await freshFolder())
    value(await instances.poll('a', {}))
    disk.injectFaults({ [fault]: 1 })
    expect(await instances.send('a', message('m1'))).toMatchObject({ ok: false })
    expect(runtime.orders).toEqual([])
  })
})

describe('after a power cut', () => {
  test('every accepted message is delivered by the next server', async () => {
    const root = await freshFolder()
    let cuts = 0
    for (let cutAt = 1; cutAt < 60; cutAt += 4) {
      const { instances, disk, runtime } = await onDisk(new CrashDisk(cutAt), root)
      // Nothing is delivered before the power is cut.
      runtime.gate = new Promise(() => {})
      disk.injectFaults({ powerCutAt: cutAt })
      const accepted: string[] = []
      try {
        for (const name of ['m1', 'm2', 'm3']) {
          value(await instances.send('a', message(name)))
          accepted.push(name)
        }
      } catch (error) {
        if (!(error instanceof PowerCut)) throw error
        cuts += 1
      }
      const next = await onDisk(disk.afterCrash(cutAt), root, false)
      await next.instances.recovery
      const given = next.runtime.guests.flatMap((guest) => guest.messages())
      expect(given.slice(0, accepted.length), `cut ${cutAt}`).toEqual(accepted)
    }
    expect(cuts).toBeGreaterThan(3)
  })
})

describe('the next server', () => {
  test('notes how much of a torn frame it cut off, and where the bytes are kept', async () => {
    const { instances, root, home } = await instancesPlace()
    const { id } = value(await instances.create({ handle: 'a' }, 'operator'))
    value(await instances.send('a', message('m1')))
    await instances.close()
    const paths = await readdir(home, { recursive: true })
    const frames = paths.filter((path) => path.includes(id) && path.endsWith('.ndjson'))
    await appendFile(join(home, frames.toSorted().at(-1) ?? ''), '{"torn')
    const next = await instancesPlace({ root })
    await next.instances.recovery
    value(await next.instances.poll('a', {}))
    const kept_as: unknown = expect.stringMatching(/^torn-/)
    const note = { event: 'frames_repaired', instance: id, cut_bytes: 6, kept_as }
    expect(next.notes).toContainEqual(note)
  })

  test('does not run a message that was cancelled', async () => {
    const { instances, root, runtime } = await instancesPlace()
    value(await instances.create({ handle: 'a' }, 'operator'))
    for (const name of ['m1', 'm2']) value(await instances.send('a', message(name)))
    await guests(runtime, 1)
    value(await instances.send('a', cancel('c1')))
    await instances.close()
    const next = await instancesPlace({ root })
    await next.instances.recovery
    expect(await ended(next.instances, 'm1')).toEqual(['interrupted'])
    expect(next.runtime.guest.messages()).toEqual(['m2'])
  })

  test('knows which answers were shown in part, although pieces are not stored', async () => {
    const { instances, root, runtime } = await instancesPlace()
    value(await instances.create({ handle: 'a' }, 'operator'))
    for (const name of ['m1', 'm2', 'm3']) value(await instances.send('a', message(name)))
    await guests(runtime, 1)
    const [one, two] = [message('m1'), message('m2')]
    await runtime.guest.say('assistant.delta', { text: 'Well' }, one)
    await runtime.guest.say('assistant.delta', { text: ', yes' }, one)
    await runtime.guest.say('status.presence', { state: 'thinking' }, two)
    const seen = value(await instances.poll('a', { after_seq: 0, reply_to_msg_id: 'm1' })).frames
    expect(seen.map(({ type }) => type)).toEqual([
      'status.presence',
      'assistant.delta',
      'assistant.delta',
    ])
    await instances.close()
    const next = await instancesPlace({ root })
    await next.instances.recovery
    await guests(next.runtime, 1)
    const { book } = next.runtime.guest.order
    expect([one, two, message('m3')].map((each) => book.isShown(each))).toEqual([
      true,
      false,
      false,
    ])
  })

  test('ends the messages of an Instance that is disabled', async () => {
    const { instances, root, home, id, runtime } = await (async () => {
      const place = await instancesPlace()
      const info = value(await place.instances.create({ handle: 'a' }, 'operator'))
      return { ...place, id: info.id }
    })()
    value(await instances.send('a', message('m1')))
    await guests(runtime, 1)
    await instances.close()
    await disableOnDisk(home)
    const next = await instancesPlace({ root })
    await next.instances.recovery
    expect(next.runtime.orders).toEqual([])
    expect(await ends(next.instances, 'm1')).toEqual(['instance_disabled'])
    expect(await readdir(join(home, 'instances/unended'))).not.toContain(id)
  })

  test('reads one register and one folder, however many Instances there are', async () => {
    const root = await freshFolder()
    const first = await instancesPlace({ root })
    const record = value(await first.instances.create({ handle: 'a' }, 'operator'))
    await first.instances.close()
    const { state: _s, waiting: _w, spend: _p, ...stored } = record
    const ids = systemIds(first.clock)
    const many = Array.from({ length: 1_000 }, (_, at) => {
      return { ...stored, id: ids.instance(), handle: `i${at}` }
    })
    const text = `${JSON.stringify({ v: 1, instances: many })}\n`
    await writeFile(join(first.home, 'instances/register.json'), `${sha256(text)}\n${text}`)
    const touched: string[] = []
    const { openHome } = await import('../../host/home.ts')
    const own = value(await openHome(first.home))
    const next = await instancesPlace({ root, folder: recording(own.own, touched) })
    await next.instances.recovery
    expect(touched).toEqual([
      'folder instances',
      'folder unended',
      'open register.json',
      'names unended',
    ])
    expect(value(await next.instances.info('i999')).handle).toBe('i999')
    await next.instances.close()
    await own.close()
  })
})

async function disableOnDisk(home: string): Promise<void> {
  const path = join(home, 'instances/register.json')
  const { readFile } = await import('node:fs/promises')
  const [, text = ''] = (await readFile(path, 'utf8')).split('\n')
  const changed = `${text.replace('"enabled":true', '"enabled":false')}\n`
  await writeFile(path, `${sha256(changed)}\n${changed}`)
}

/** The same folder; what is opened and listed is recorded. */
function recording(folder: Folder, into: string[], own = ''): Folder {
  return {
    label: folder.label,
    folder: async (name, mode) => {
      into.push(`folder ${name}`)
      return recording(await folder.folder(name, mode), into, name)
    },
    open: (name, mode) => {
      into.push(`open ${name}`)
      return folder.open(name, mode)
    },
    rename: (from, to) => folder.rename(from, to),
    remove: (name) => folder.remove(name),
    names: () => {
      into.push(`names ${own}`)
      return folder.names()
    },
    sync: () => folder.sync(),
    watch: (name, changed) => folder.watch(name, changed),
    close: () => folder.close(),
  }
}
