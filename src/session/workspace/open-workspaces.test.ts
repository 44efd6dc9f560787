import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { failed, ok } from '../../model/errors.ts'
import { SessionId } from '../../model/ids.ts'
import type { OpenAt, OpenWorkspace } from './workspace.ts'
import type { Harness } from '../harness.ts'
import { openWorkspaces, type HeldWorkspace } from './open-workspaces.ts'

const SESSION = SessionId.parse('ses_01kg8m2q3r4s5t6v7w8x9y0z12')

/** Records what is opened and closed. */
function recorded(found = async (_make: boolean | undefined) => true) {
  const calls: string[] = []
  const opened = { session: false }
  const open: OpenAt = async (path, { make } = {}) => {
    calls.push(`open ${path}`)
    if (!(await found(make))) return failed('not_found', 'Not there.')
    const close = async () => void calls.push(`close ${path}`)
    const harness = {
      close: async () => {},
      isOpen: () => opened.session,
    } as Partial<Harness> as Harness
    return ok({ close, harness } as Partial<OpenWorkspace> as OpenWorkspace)
  }
  const register = {
    add: async () => 'created' as const,
    workspaceOf: async () => void calls.push('look up'),
    all: async () => [],
  }
  return { calls, opened, workspaces: openWorkspaces(open, register) }
}

function held(
  result: Awaited<ReturnType<ReturnType<typeof openWorkspaces>['hold']>>,
): HeldWorkspace {
  if (!result.ok) throw new Error(result.error.message)
  return result.value
}

test('requests for one folder share it, and the last one closes it', async () => {
  const root = await freshFolder()
  const link = join(await freshFolder(), 'link')
  await symlink(root, link)
  const { calls, workspaces } = recorded()
  const [one, two] = await Promise.all([workspaces.hold(root), workspaces.hold(link)])
  expect([held(one).path, held(two).workspace === held(one).workspace]).toEqual([root, true])
  await held(one).release()
  await held(one).release()
  expect(calls).toEqual([`open ${root}`])
  await held(two).release()
  expect(calls).toEqual([`open ${root}`, `close ${root}`])
  const again = held(await workspaces.hold(root))
  await again.release()
  expect(calls.length).toBe(4)
})

test('a Session that is open is not looked up', async () => {
  const root = await freshFolder()
  const { calls, opened, workspaces } = recorded()
  const one = held(await workspaces.hold(root))
  expect(await workspaces.holdFor(SESSION)).toMatchObject({ error: { kind: 'not_found' } })
  opened.session = true
  const two = held(await workspaces.holdFor(SESSION))
  expect([two.path, two.workspace === one.workspace]).toEqual([root, true])
  await one.release()
  expect(calls).toEqual([`open ${root}`, 'look up'])
  await two.release()
  expect(calls).toEqual([`open ${root}`, 'look up', `close ${root}`])
  expect(await workspaces.holdFor(SESSION)).toMatchObject({ error: { kind: 'not_found' } })
  await workspaces.close()
})

test('a failure to open is returned, and the next request tries again', async () => {
  const root = await freshFolder()
  let fail = () => {}
  const failing = new Promise<void>((resolve) => {
    fail = resolve
  })
  const { calls, workspaces } = recorded(async (make) => {
    if (make !== true) await failing
    return make === true
  })
  const plain = workspaces.hold(root)
  // Both look for the folder first, and the one that finds it first opens it.
  await expect.poll(() => calls).toEqual([`open ${root}`])
  const making = workspaces.hold(root, { make: true })
  // By then, `making` waits for the folder that is being opened.
  await workspaces.hold(join(root, 'missing'))
  fail()
  expect(await plain).toMatchObject({ ok: false, error: { kind: 'not_found' } })
  await held(await making).release()
  expect(calls).toEqual([`open ${root}`, `open ${root}`, `close ${root}`])
})

test('closing waits for requests in progress, and refuses others', async () => {
  const root = await freshFolder()
  const { calls, workspaces } = recorded()
  const one = held(await workspaces.hold(root))
  const closed = workspaces.close().then(() => calls.push('closed'))
  expect(await workspaces.hold(root)).toMatchObject({ ok: false, error: { kind: 'overloaded' } })
  await one.release()
  await closed
  expect(calls).toEqual([`open ${root}`, `close ${root}`, 'closed'])
})
