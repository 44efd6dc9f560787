import { join } from 'node:path'
import type { Redactor } from '../../encoding/redaction.ts'
import type { Clock } from '../../host/clock.ts'
import {
  asResult,
  closing,
  ifPossible,
  ifThere,
  replaceFile,
  type Folder,
} from '../../host/files/files.ts'
import { wholeFile } from '../../host/files/json-file.ts'
import type { Ids } from '../../host/ids.ts'
import type { ProgramFiles } from '../../host/process/own-program.ts'
import { recordsPath } from '../../host/files/records.ts'
import type { Sandbox } from '../../host/sandbox/sandbox.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { PermissionMode } from '../../model/modes.ts'
import type { Settings } from '../../model/settings.ts'
import type { InstanceRecord } from '../../model/tether/instance.ts'
import { GuestHost, type GuestHostParts } from '../server/guest-host.ts'
import { GuestLogs } from '../server/guest-logs.ts'
import { launchGuest } from '../server/launch-guest.ts'
import { RedactedFrames } from '../server/redacted-frames.ts'
import type { GuestHeads, GuestRecords } from '../records/guest-records.ts'
import { openRelay } from '../relay/relay.ts'
import type { RelayedAccess } from '../relay/rules.ts'
import type { GuestOrder, InstanceRuntime, RunningGuest } from './runtime.ts'

/** The model of a guest, by its record and the current settings. */
export interface GuestModel {
  readonly provider: string
  readonly model: string
  readonly permissionMode: PermissionMode
  /** How its provider is reached; absent if that needs no network. */
  readonly access?: RelayedAccess | undefined
  /** The settings that apply inside the guest. Without keys. */
  readonly settings: Settings
  /** Of all keys of the server, which the guest does not know. */
  readonly redactor: Redactor
}

export interface GuestRuntimeParts {
  /** Path of `$HAWSER_HOME`. */
  readonly home: string
  readonly records: Pick<GuestRecords, 'heads' | 'inLogs'>
  readonly sandbox: Pick<Sandbox, 'start'>
  readonly modelOf: (record: InstanceRecord) => Promise<Result<GuestModel>>
  readonly clock: Clock
  readonly ids: Ids
  /** The program of a guest. Default: this program. */
  readonly program?: ProgramFiles | undefined
}

/** Runs each guest as a process in its own sandbox, see ADR 20. */
export function guestRuntime(parts: GuestRuntimeParts): InstanceRuntime {
  return { start: (order) => startGuest(parts, order) }
}

/** The last of what a guest printed, for the log if it crashes. */
const KEPT_OUTPUT = 2_000

async function startGuest(
  parts: GuestRuntimeParts,
  order: GuestOrder,
): Promise<Result<RunningGuest>> {
  const model = await parts.modelOf(order.record)
  if (!model.ok) return model
  const prepared = await prepare(parts, order, model.value)
  if (!prepared.ok) return prepared
  const { heads } = prepared.value
  const { record, workspace, identity, images, path, book, onFrame, note } = order
  const { provider, model: name, permissionMode, redactor } = model.value
  const { clock, ids, sandbox, home, program, records: stores } = parts
  const relay = relayOf(parts, order, model.value)
  const records = recordsPath({ workspace, instance: record.id })
  const isProcess = record.isolation === 'process'
  const frames = new RedactedFrames(redactor, ids, onFrame)
  const printed = redactor.byteStream()
  let output = ''
  const started = await GuestHost.start({
    start: {
      instance: record.id,
      workspace,
      // A sandbox shows them as the `.hawser` of the workspace.
      ...(isProcess ? { records } : {}),
      provider,
      model: name,
      permission_mode: permissionMode,
      replay: 'window',
      images,
    },
    launch: () =>
      launchGuest(sandbox, {
        workspace,
        identity,
        home,
        ownHome: join(path, HOME),
        records,
        ...(isProcess ? { withoutSandbox: true } : {}),
        ...(program === undefined ? {} : { program }),
        onOutput: (chunk) => {
          output = (output + printed.push(chunk).toString()).slice(-KEPT_OUTPUT)
        },
      }),
    relay: relay.open,
    logs: new GuestLogs({ instance: record.id, workspace: identity, heads, records: stores }),
    book,
    clock,
    redact: (frame) => redactor.value(frame),
    onFrame: (frame) => frames.take(frame),
    note,
  })
  const finish = async () => {
    await relay.untilSaved()
    await ifPossible(heads.close())
    if (output !== '') note({ event: 'guest_output', output })
  }
  if (!started.ok) {
    await finish()
    return started
  }
  const host = started.value
  const ended = host.ended.then(async ({ reason }) => {
    await finish()
    return reason === undefined ? {} : { reason }
  })
  return ok({
    send: (frame) => host.send(frame),
    pause: () => host.pause(),
    resume: () => host.resume(),
    stop: (graceMs) => host.stop(graceMs),
    ended,
  })
}

const HOME = 'home'
const CONFIG = 'config.json'

/** Creates the home of the guest and writes its settings. Opens the server's heads of its Logs. */
async function prepare(
  { ids, records }: GuestRuntimeParts,
  { record, folder, workspace }: GuestOrder,
  { settings }: GuestModel,
): Promise<Result<{ readonly heads: GuestHeads }>> {
  return asResult('prepare the folders of the agent', async () => {
    await closing(await existingFolder(folder, HOME), async (own) => {
      const text = Buffer.from(`${JSON.stringify(settings, undefined, 2)}\n`)
      // A start waits for every write to the disk.
      if (!(await contains(own, text))) await replaceFile(own, CONFIG, text, ids.temporary())
    })
    const heads = await records.heads(record.id, workspace)
    return heads.ok ? ok({ heads: heads.value }) : heads
  })
}

/** The guest can write to its home, so anything may be there. */
async function contains(home: Folder, text: Buffer): Promise<boolean> {
  const found = await asResult('read the settings of the agent', async () =>
    ok(await wholeFile(home, CONFIG, text.length + 1)),
  )
  return found.ok && found.value?.equals(text) === true
}

/** Opens a folder; creates it only if it is missing, because that waits for the disk. */
async function existingFolder(parent: Folder, name: string): Promise<Folder> {
  return (await ifThere(parent.folder(name, 'open'))) ?? parent.folder(name, 'create')
}

interface OrderedRelay {
  readonly open: GuestHostParts['relay']
  /** Resolves when what was spent is recorded. */
  readonly untilSaved: () => Promise<unknown>
}

function relayOf(
  { clock }: GuestRuntimeParts,
  { record, spend, note }: GuestOrder,
  { model, access }: GuestModel,
): OrderedRelay {
  if (access === undefined) return { open: () => ({ close: () => {} }), untilSaved: async () => {} }
  let saving: Promise<unknown> = Promise.resolve()
  const save = (saved: Promise<Result<void>>) => {
    saving = saved.then((result) => {
      if (!result.ok) note({ event: 'spend_not_recorded', why: result.error })
    })
  }
  const open: GuestHostParts['relay'] = (socket) =>
    openRelay(socket, {
      access,
      models: [model],
      ceilingUsd: record.ceiling_usd,
      spentBefore: spend.total,
      onSpend: (total) => save(spend.save(total)),
      onRunning: (running) => save(spend.saveRunning(running)),
      clock,
      log: (text) => note({ event: 'relay', text }),
    })
  return { open, untilSaved: () => saving }
}
