import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as z from 'zod'
import { beforeAll, describe, expect, test } from 'vitest'
import { openWatches } from '../../../src/history/open-watch.ts'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { SessionId } from '../../../src/model/ids.ts'
import { AskedHarness, type Answer } from '../../support/session/asked-harness.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { openParts } from '../../support/session/harness-parts.ts'
import { value } from '../../support/log/story.ts'

const exec = promisify(execFile)
const { isConfined } = await systemSandbox().status()
let child = ''
beforeAll(async () => {
  child = await bundleScript(
    new URL('killed-command-child.ts', import.meta.url),
    await freshFolder(),
  )
}, 60_000)

const PLANT =
  'mkdir -p .vscode ev a/b/.git; echo ../ev >.git/commondir; echo x >.envrc; echo {} >.vscode/tasks.json; echo "[core] pager = x" >a/b/.git/config; echo planted; sleep 600'
const PLANTED = ['.envrc', '.vscode', '.git/commondir', 'a/b/.git/config']

/** Runs a Turn in a process that is killed; returns its Session. */
async function killed(order: {
  root: string
  text: string
  at: 'watched' | 'planted' | 'moving'
  session?: SessionId
}): Promise<SessionId> {
  const ran = await exec(process.execPath, [child, JSON.stringify(order)]).catch((error: unknown) =>
    Died.parse(error),
  )
  if (!('signal' in ran)) throw new Error('it was not killed')
  return SessionId.parse(ran.stdout.trim())
}

const Died = z.looseObject({ signal: z.literal('SIGKILL'), stdout: z.string() })

async function place(): Promise<string> {
  const root = await freshFolder()
  await mkdir(join(root, 'workspace'))
  await exec('git', ['init', '-q', join(root, 'workspace')])
  return root
}

/** Continues a Session and gives this answer to every question; without one, there is no person to ask. */
async function resumed(
  root: string,
  id: SessionId,
  answer: Answer | undefined,
  text = 'Run `echo hello`',
) {
  const questions: (readonly string[])[] = []
  const { parts, close } = await openParts(root, {
    person: {
      ask:
        answer &&
        (async ({ paths }) => {
          questions.push(paths)
          return answer
        }),
    },
  })
  const session = value(await new AskedHarness(parts).open(id))
  value(await value(await session.admit(text)).done)
  const { events } = session
  await session.close()
  await close()
  const last = events.findLast((event) => event.type === 'tool_result')
  return { questions, events, last: last?.type === 'tool_result' ? last.data : undefined }
}

const YES: Answer = { allowed: true, scope: 'once' }
const NO: Answer = { allowed: false, scope: 'once' }
const NOBODY = undefined

async function standing(root: string): Promise<readonly string[]> {
  const all = await readdir(join(root, 'workspace'), { recursive: true })
  return PLANTED.filter((path) => all.includes(path))
}

describe.skipIf(!isConfined)('a file that a command planted before Hawser was killed', () => {
  test('is recorded before the command starts, and existing files cause no question', async () => {
    const root = await place()
    await writeFile(join(root, 'workspace', 'AGENTS.md'), 'mine')
    const id = await killed({ root, text: 'Run `true`', at: 'watched' })
    const { questions, events, last } = await resumed(root, id, NOBODY)
    const watch = events.find((event) => event.type === 'command_watched')
    expect(watch?.data).toMatchObject({
      paths: expect.arrayContaining([expect.objectContaining({ path: 'AGENTS.md', kind: 'file' })]),
    })
    expect([questions, last?.outcome, openWatches(events)]).toEqual([[], 'ok', []])
  }, 60_000)

  test('is listed and asked about, and moved aside if a person allows it', async () => {
    const root = await place()
    const id = await killed({ root, text: `Run \`${PLANT}\``, at: 'planted' })
    expect(await standing(root)).toEqual(PLANTED)
    const { questions, events, last } = await resumed(root, id, YES)
    expect(questions.map((paths) => new Set(paths))).toEqual([new Set(PLANTED)])
    expect([await standing(root), last?.outcome, openWatches(events)]).toEqual([[], 'ok', []])
    const notices = events.flatMap((event) => (event.type === 'notice' ? [event.data] : []))
    expect(notices.map(({ code }) => code)).toEqual(['killed_command', 'moved_aside'])
    for (const path of PLANTED) expect(notices[0]?.text).toContain(path)
  }, 60_000)

  test('stays if a person keeps it, and is not asked about again', async () => {
    const root = await place()
    const id = await killed({ root, text: `Run \`${PLANT}\``, at: 'planted' })
    expect((await resumed(root, id, NO)).last?.outcome).toBe('ok')
    const again = await resumed(root, id, YES)
    expect([again.questions, again.last?.outcome, await standing(root)]).toEqual([
      [],
      'ok',
      PLANTED,
    ])
  }, 60_000)

  test('prevents every command from running until a person answers; files are still written', async () => {
    const root = await place()
    const id = await killed({ root, text: `Run \`${PLANT}\``, at: 'planted' })
    const { last } = await resumed(root, id, NOBODY)
    expect([last?.outcome, last?.error?.kind]).toEqual(['denied', 'permission_denied'])
    expect(last?.output).toContain('.envrc')
    const second = await resumed(root, id, NOBODY, 'Write "x" to b.txt')
    expect([second.last?.outcome, await standing(root)]).toEqual(['ok', PLANTED])
    const third = await resumed(root, id, YES)
    expect([third.last?.outcome, await standing(root)]).toEqual(['ok', []])
  }, 60_000)

  test('is asked about again if it remains after a kill during the move', async () => {
    const root = await place()
    const first = await killed({ root, text: `Run \`${PLANT}\``, at: 'planted' })
    const id = await killed({ root, text: 'Run `true`', at: 'moving', session: first })
    expect((await standing(root)).length).toBeLessThan(PLANTED.length)
    const { questions, last } = await resumed(root, id, YES)
    expect(questions).toHaveLength(1)
    expect([await standing(root), last?.outcome]).toEqual([[], 'ok'])
  }, 60_000)

  test('is settled without a question if a person removed it', async () => {
    const root = await place()
    const id = await killed({
      root,
      text: 'Run `echo x >.envrc; echo planted; sleep 600`',
      at: 'planted',
    })
    await exec('rm', [join(root, 'workspace', '.envrc')])
    const { questions, last } = await resumed(root, id, NOBODY)
    expect([questions, last?.outcome]).toEqual([[], 'ok'])
    await writeFile(join(root, 'workspace', '.envrc'), 'mine')
    const again = await resumed(root, id, YES)
    expect([again.questions, await readFile(join(root, 'workspace', '.envrc'), 'utf8')]).toEqual([
      [],
      'mine',
    ])
  }, 60_000)
})
