import { asFilePlace } from '../../support/log/file-place.ts'
import { appendFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { workspaceBlobStore } from '../../../src/blobs/workspace-store.ts'
import type { File, Folder } from '../../../src/host/files/files.ts'
import { openHome } from '../../../src/host/home.ts'
import { openWorkspace } from '../../../src/host/workspace.ts'
import { TurnId } from '../../../src/model/ids.ts'
import type { SessionParts } from '../../../src/session/live/session-parts.ts'
import { withChanges } from '../../support/session/harness-parts.ts'
import { value } from '../../support/log/story.ts'
import { openScene } from './turn-kill-scene.ts'

/** The message of every process, with one call that has an effect, and its key. */
export const MESSAGE = { text: 'Write "calm" to once.txt.', key: 'message 1' } as const

/** How `admit` answered a process, and how the Turn ended. */
export const KeyAnswer = z.object({
  by: z.int(),
  turn: TurnId,
  repeated: z.boolean(),
  ended: z.unknown(),
})
export type KeyAnswer = z.infer<typeof KeyAnswer>

const ANSWERS = 'answers.ndjson'
const KILLS = 'kills.ndjson'

export function noteAnswer(root: string, answer: KeyAnswer): void {
  appendFileSync(join(root, ANSWERS), `${JSON.stringify(answer)}\n`)
}

/** Records the step at which the process is killed next. */
export function noteKill(root: string, step: string): void {
  appendFileSync(join(root, KILLS), `${JSON.stringify(step)}\n`)
}

export async function answersIn(root: string): Promise<KeyAnswer[]> {
  return (await linesIn(root, ANSWERS)).map((line) => KeyAnswer.parse(line))
}

export async function killsIn(root: string): Promise<string[]> {
  return (await linesIn(root, KILLS)).map((line) => z.string().parse(line))
}

/** Called with the name of each step that a process is about to take, or has just taken. */
type Step = (name: string) => void

/**
 * All real parts. Steps are the operations on files of Logs, heads and blobs, before and after each and halfway through
 * each write, the pieces of an answer, and the start and end of a tool.
 */
export async function openSteps(root: string, by: number, step: Step): Promise<SessionParts> {
  const { parts } = await openScene(root, { by, reached: step })
  const { place } = parts.log
  const { sessions, blobs } = value(await openWorkspace(parts.workspace.path, place.ids))
  const { heads } = value(await openHome(parts.workspace.home))
  const { ids, clock } = place
  return withChanges(parts, {
    log: {
      place: asFilePlace(place).with({
        sessions: steppedFolder(sessions, 'log', step),
        heads: steppedFolder(heads, 'head', step),
      }),
      store: workspaceBlobStore({ folder: steppedFolder(blobs, 'blob', step), ids, clock }),
    },
  })
}

function steppedFolder(folder: Folder, of: string, step: Step): Folder {
  const stepped = around(of, step)
  return {
    label: folder.label,
    folder: async (name, mode) => steppedFolder(await folder.folder(name, mode), of, step),
    open: (name, mode) =>
      stepped(`open ${mode}`, async () => steppedFile(await folder.open(name, mode), of, step)),
    rename: (from, to) => stepped('rename', () => folder.rename(from, to)),
    remove: (name) => stepped('remove', () => folder.remove(name)),
    names: () => folder.names(),
    sync: () => stepped('sync folder', () => folder.sync()),
    watch: (name, changed) => folder.watch(name, changed),
    close: () => folder.close(),
  }
}

function steppedFile(file: File, of: string, step: Step): File {
  const stepped = around(of, step)
  return {
    stat: () => file.stat(),
    hasName: () => file.hasName(),
    read: (into, position) => file.read(into, position),
    write: (bytes) =>
      stepped('write', async () => {
        const half = Math.ceil(bytes.length / 2)
        const first = await file.write(bytes.subarray(0, half))
        step(`${of}: half of write`)
        return first < half ? first : first + (await file.write(bytes.subarray(half)))
      }),
    writeAt: (bytes, position) => stepped('write at', () => file.writeAt(bytes, position)),
    truncate: (size) => stepped('truncate', () => file.truncate(size)),
    datasync: () => stepped('sync data', () => file.datasync()),
    sync: () => stepped('sync', () => file.sync()),
    touch: () => stepped('touch', () => file.touch()),
    tryLock: () => stepped('lock', () => file.tryLock()),
    close: () => stepped('close', () => file.close()),
  }
}

function around(of: string, step: Step) {
  return async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    step(`${of}: before ${name}`)
    const result = await work()
    step(`${of}: after ${name}`)
    return result
  }
}

async function linesIn(root: string, name: string): Promise<unknown[]> {
  const text = await readFile(join(root, name), 'utf8').catch(() => '')
  return text.split('\n').flatMap((line): unknown[] => (line === '' ? [] : [JSON.parse(line)]))
}
