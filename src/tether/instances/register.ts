import { shorten } from '../../encoding/quote.ts'
import { timestamp, type Clock } from '../../host/clock.ts'
import { asResult, type Folder } from '../../host/files/files.ts'
import type { Ids } from '../../host/ids.ts'
import { inOrder } from '../../host/in-order.ts'
import { underShortLock } from '../../host/short-lock.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import type { InstanceId } from '../../model/ids.ts'
import {
  DEFAULT_IDLE,
  InstanceChoices,
  type InstanceFolder,
  type InstanceHandle,
  type InstanceRecord,
  type InstanceRequest,
} from '../../model/tether/instance.ts'
import { readRegister, writeRegister } from './register-file.ts'
import { OWN_WORKSPACE } from './workspace-place.ts'

export interface RegisterParts {
  /** `$HAWSER_HOME/instances`. */
  readonly folder: Folder
  readonly clock: Clock
  readonly ids: Pick<Ids, 'instance' | 'temporary'>
}

/** Who chose a workspace, and which folder it is; without one, the first start takes the folder of the Instance itself. */
export interface WorkspaceChoice {
  readonly by: NonNullable<InstanceRecord['workspace_by']>
  readonly folder?: InstanceFolder
}

type Records = readonly InstanceRecord[]

/**
 * The Instances of a home. Every change is durable when its promise resolves. Several processes may change the register: each
 * change applies to what the file contains at that moment.
 */
export class InstanceRegister {
  readonly #parts: RegisterParts
  readonly #inOrder = inOrder()
  #byName = new Map<string, InstanceRecord>()
  #records: Records = []

  private constructor(parts: RegisterParts, records: Records) {
    this.#parts = parts
    this.#take(records)
  }

  /** Reads one file, however many Instances there are. */
  static async open(parts: RegisterParts): Promise<Result<InstanceRegister>> {
    return asResult('read the register of Instances', async () => {
      const records = await readRegister(parts.folder)
      return records.ok ? ok(new InstanceRegister(parts, records.value)) : records
    })
  }

  /** In the order in which they were created. */
  get all(): Records {
    return this.#records
  }

  /** By id or handle. */
  find(name: string): InstanceRecord | undefined {
    return this.#byName.get(name)
  }

  /** Registers an Instance. `handle` is required; the rest has defaults. */
  async create(
    request: InstanceRequest,
    choice: WorkspaceChoice = { by: 'operator' },
  ): Promise<Result<InstanceRecord>> {
    const { clock, ids } = this.#parts
    const defaults = { isolation: 'sandbox', enabled: true, idle: DEFAULT_IDLE }
    const chosen = checkChoices({ ...defaults, ...present(request) })
    if (!chosen.ok) return chosen
    const own = { id: ids.instance(), created: timestamp(clock), ...choiceFields(choice) }
    const record = { ...own, ...chosen.value }
    return this.#change((records) => {
      const taken = takenBy(records, record.handle)
      return taken === undefined ? ok([[...records, record], record]) : handleTaken(record.handle)
    })
  }

  /** Changes some fields. A field that is `null` is removed. With another workspace comes who chose it. */
  async update(
    id: InstanceId,
    request: InstanceRequest,
    choice?: WorkspaceChoice,
  ): Promise<Result<InstanceRecord>> {
    return this.#change((records) => {
      const found = records.find((one) => one.id === id)
      if (found === undefined) return unknown()
      const old =
        choice === undefined ? found : { ...withoutFolder(found), ...choiceFields(choice) }
      const { id: _id, created: _created, ...before } = old
      const chosen = checkChoices({ ...before, ...present(request) })
      if (!chosen.ok) return chosen
      const taken = takenBy(records, chosen.value.handle)
      if (taken !== undefined && taken.id !== id) return handleTaken(chosen.value.handle)
      const kept = Object.entries(old).filter(([name]) => !(name in InstanceChoices.shape))
      const record = { ...Object.fromEntries(kept), id, created: old.created, ...chosen.value }
      return ok([records.map((one) => (one.id === id ? record : one)), record])
    })
  }

  /** Records the folder of its workspace, unless another workspace was chosen meanwhile. */
  async keepFolder(id: InstanceId, folder: InstanceFolder): Promise<Result<InstanceRecord>> {
    return this.#change((records) => {
      const old = records.find((one) => one.id === id)
      if (old === undefined) return unknown()
      const record = folder.of === (old.workspace ?? OWN_WORKSPACE) ? { ...old, folder } : old
      return ok([records.map((one) => (one.id === id ? record : one)), record])
    })
  }

  /** Its handle can be used again. Its folder stays. */
  async remove(id: InstanceId): Promise<Result<InstanceRecord>> {
    return this.#change((records) => {
      const old = records.find((one) => one.id === id)
      return old === undefined ? unknown() : ok([records.filter((one) => one !== old), old])
    })
  }

  /** The folder of a registered Instance, named by its id. Close it. */
  async folder(id: InstanceId): Promise<Result<Folder>> {
    if (this.#byName.get(id) === undefined) return unknown()
    return asResult('open the folder of the Instance', async () =>
      ok(await this.#parts.folder.folder(id, 'create')),
    )
  }

  #change(
    change: (records: Records) => Result<[Records, InstanceRecord]>,
  ): Promise<Result<InstanceRecord>> {
    const { folder, clock, ids } = this.#parts
    return this.#inOrder(() =>
      asResult('change the register of Instances', () =>
        underShortLock({ folder, clock }, async () => {
          const records = await readRegister(folder)
          if (!records.ok) return records
          const changed = change(records.value)
          if (!changed.ok) return changed
          const [next, record] = changed.value
          const written = await writeRegister(folder, next, ids)
          if (!written.ok) return written
          this.#take(next)
          return ok(record)
        }),
      ),
    )
  }

  #take(records: Records): void {
    this.#records = records
    this.#byName = new Map()
    for (const record of records) this.#byName.set(record.id, record).set(record.handle, record)
  }
}

function choiceFields({ by, folder }: WorkspaceChoice) {
  return { workspace_by: by, ...(folder === undefined ? {} : { folder }) }
}

function withoutFolder(record: InstanceRecord): InstanceRecord {
  const { folder: _folder, ...rest } = record
  return rest
}

function present(request: InstanceRequest): Record<string, unknown> {
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined))
}

function checkChoices(values: Record<string, unknown>): Result<InstanceChoices> {
  const kept = Object.entries(values).filter(([, value]) => value !== null)
  const chosen = InstanceChoices.safeParse(Object.fromEntries(kept))
  if (chosen.success) return ok(chosen.data)
  const field = String(chosen.error.issues[0]?.path[0] ?? 'handle')
  if (field !== 'handle')
    return failed('invalid_args', `The field ${field} of the Instance is invalid.`, { field })
  const handle = shorten(JSON.stringify(values['handle'] ?? ''), SHOWN_CHARACTERS)
  const message = `The handle ${handle} is invalid: it must have 1 to 64 lower-case letters, digits, "-" and "_".`
  return failed('invalid_args', message, { field })
}

const SHOWN_CHARACTERS = 100

function takenBy(records: Records, handle: InstanceHandle): InstanceRecord | undefined {
  return records.find((one) => one.handle === handle)
}

function handleTaken(handle: InstanceHandle): Failed {
  return failed('invalid_args', `Another Instance has the handle ${handle}.`, { handle }, [
    { action: 'Choose another handle.' },
  ])
}

function unknown(): Failed {
  return failed('not_found', 'This Instance does not exist.', {}, [
    { action: 'List all Instances.', command: 'hawser instance list' },
  ])
}
