import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import type { TurnId } from '../../../src/model/ids.ts'
import type { Result } from '../../../src/model/errors.ts'
import type { UndoResult } from '../../../src/session/changes/undo.ts'
import type { Session } from '../../../src/session/session.ts'
import { ChangeModel, type Contents, type Expected } from './change-model.ts'
import { KEPT_PATH, randomCommand, randomText } from './random-changes.ts'
import { storeProblems } from './store-problems.ts'
import { random, type Random } from '../host/random.ts'
import { value } from '../log/story.ts'
import { harnessPlace } from '../session/harness-place.ts'

// Tools, commands, edits of a person, undo, redo, forks and compactions in random order. A model that knows neither Events nor
// snapshots says what each file contains after each act.

const BEGIN = { provider: 'rehearsal', model: 'rehearsal', permissionMode: 'auto' } as const

const WEIGHTED = [
  'write',
  'command',
  'command',
  'both',
  'own',
  'edit',
  'edit',
  'undo',
  'undo',
  'undo',
  'one',
  'to',
  'force',
  'redo',
  'redo',
  'redo',
  'forced redo',
  'fork',
  'switch',
  'compact',
] as const

interface Branch {
  readonly session: Session
  readonly model: ChangeModel
  /** After a compaction, the Session itself begins later. */
  readonly turns: TurnId[]
}

class Scene {
  readonly workspace: string
  readonly chance: Random
  readonly branches: Branch[] = []
  at = 0
  /** What a person wrote and nothing changed since, by path: undo and redo replace it only if they are forced. */
  readonly edits = new Map<string, string>()

  constructor(workspace: string, chance: Random) {
    this.workspace = workspace
    this.chance = chance
  }

  get branch(): Branch {
    return this.branches[this.at] ?? expect.fail('no branch')
  }

  async contents(): Promise<Contents> {
    const found = new Map<string, string>()
    for (const entry of await readdir(this.workspace, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name).slice(this.workspace.length + 1)
      if (entry.isFile() && !path.startsWith('.hawser'))
        found.set(path, await readFile(join(this.workspace, path), 'utf8'))
    }
    return found
  }
}

/** Performs `acts` acts, and compares every file after each. Returns how often each act was chosen. */
export async function runInterleavings(
  seed: number,
  acts: number,
): Promise<ReadonlyMap<string, number>> {
  const place = await harnessPlace()
  const scene = new Scene(place.workspace, random(seed))
  await mkdir(dirname(join(place.workspace, KEPT_PATH)), { recursive: true })
  await writeFile(join(place.workspace, KEPT_PATH), 'kept')
  const session = value(await place.harness.create(BEGIN))
  scene.branches.push({ session, model: new ChangeModel(), turns: [] })
  const done = new Map<string, number>()
  for (let n = 0; n < acts; n += 1) {
    const act = scene.chance.pick(WEIGHTED)
    const before = await scene.contents()
    const expected = await perform(scene, act, place.harness)
    const after = await scene.contents()
    const told = `seed ${seed}, act ${n} (${act})`
    expect([told, sorted(after)]).toEqual([told, sorted(expected ?? before)])
    for (const [path, text] of scene.edits) {
      if (after.get(path) === text) continue
      expect([told, path, MAY_REPLACE.has(act)]).toEqual([told, path, true])
      scene.edits.delete(path)
    }
    done.set(act, (done.get(act) ?? 0) + 1)
  }
  for (const { session: one } of scene.branches) await one.close()
  expect(await storeProblems(join(place.root, 'home', 'snapshots'), place.workspace)).toEqual([])
  return done
}

/** Acts that may replace what a person wrote. */
const MAY_REPLACE: ReadonlySet<string> = new Set([
  'write',
  'command',
  'both',
  'own',
  'edit',
  'force',
  'forced redo',
])

/** Returns the expected contents; `undefined` if they stay. */
async function perform(
  scene: Scene,
  act: (typeof WEIGHTED)[number],
  harness: Awaited<ReturnType<typeof harnessPlace>>['harness'],
): Promise<Contents | undefined> {
  const { branch, chance } = scene
  const { session, model, turns } = branch
  const before = await scene.contents()
  switch (act) {
    case 'write': {
      const [path, text] = randomText(chance)
      return turn(scene, `Write "${text}" to ${path}`, new Map(before).set(path, text))
    }
    case 'command': {
      const { command, after } = randomCommand(chance, before)
      return turn(scene, `Run \`${command}\``, after)
    }
    case 'both': {
      const [path, text] = randomText(chance)
      const { command, after } = randomCommand(chance, new Map(before).set(path, text))
      return turn(scene, `Write "${text}" to ${path} and then run \`${command}\``, after)
    }
    case 'own': {
      const { command, after } = randomCommand(chance, before)
      const { command_id } = value(await session.runCommand(command))
      model.change(command_id, before, after)
      return after
    }
    case 'edit': {
      const [path, text] = randomText(chance)
      const after = new Map(before)
      if (chance.below(4) === 0) {
        await rm(join(scene.workspace, path), { force: true })
        after.delete(path)
      } else {
        await writeFile(join(scene.workspace, path), text)
        after.set(path, text)
        scene.edits.set(path, text)
      }
      return after
    }
    case 'undo':
      return judge(model.undo(before), await session.undo())
    case 'force':
      return judge(
        model.undo(before, { force: true }),
        await session.undo(undefined, { force: true }),
      )
    case 'one': {
      if (turns.length === 0) return undefined
      const id = chance.pick(turns)
      return judge(model.undo(before, { key: id }), await session.undo(id))
    }
    case 'to': {
      if (turns.length === 0) return undefined
      const from = 1 + chance.below(turns.length)
      const expected = model.undo(before, { from })
      return judge(expected, await session.undo(turns[from - 1], { onwards: true }))
    }
    case 'redo':
      return judge(model.redo(before), await session.redo())
    case 'forced redo':
      return judge(model.redo(before, { force: true }), await session.redo({ force: true }))
    case 'fork': {
      const forked = await harness.fork(session.id)
      if (!forked.ok) return undefined
      const next = value(await harness.open(forked.value.session_id))
      scene.branches.push({ session: next, model: model.copy(), turns: [...turns] })
      scene.at = scene.branches.length - 1
      return undefined
    }
    case 'switch':
      scene.at = chance.below(scene.branches.length)
      await scene.branch.session.catchUp()
      return undefined
    case 'compact':
      await session.compact()
      return undefined
    default:
      return act satisfies never
  }
}

async function turn(scene: Scene, text: string, after: Contents): Promise<Contents> {
  const { session, model, turns } = scene.branch
  const before = await scene.contents()
  const admitted = value(await session.admit(text))
  expect([text, value(await admitted.done).status]).toEqual([text, 'completed'])
  model.beginTurn()
  const begun = session.events.findLast((event) => event.type === 'turn_started')?.turn_id
  if (begun === undefined) throw new Error('no Turn')
  turns.push(begun)
  model.change(begun, before, after, text.startsWith('Write'))
  return after
}

/** The paths that are left alone are those that the model leaves; returns what the files are then. */
function judge(expected: Expected, got: Result<UndoResult>): Contents | undefined {
  if (expected === undefined) {
    expect(got).toMatchObject({ ok: false, error: { kind: 'not_found' } })
    return undefined
  }
  const { files } = value(got)
  const left = files.flatMap(({ path, outcome }) => (outcome === 'restored' ? [] : [path]))
  expect(left.filter((path) => !path.endsWith('/')).toSorted()).toEqual(expected.left)
  return expected.after
}

function sorted(contents: Contents): readonly (readonly [string, string])[] {
  return [...contents].toSorted(([a], [b]) => (a < b ? -1 : 1))
}
