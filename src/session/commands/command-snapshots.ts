import type { Clock } from '../../host/clock.ts'
import type { Snapshots } from '../../host/snapshots/snapshots.ts'
import { Redactor } from '../../encoding/redaction.ts'
import { openSnapshots } from '../../history/open-snapshots.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { EventDraft, WholeEvent } from '../../model/events/event.ts'
import type { SnapshotParts } from '../../turn/command-snapshots.ts'
import type { TurnParts } from '../../turn/parts/turn-parts.ts'

/** What the holder of the lock can do for snapshots. */
interface Recorder {
  readonly publish: TurnParts['log']['publish']
  readonly events: () => readonly WholeEvent[]
  /** Aborts when the person interrupts. */
  readonly signal: AbortSignal
  readonly record: (drafts: readonly EventDraft[]) => Promise<Result<void>>
}

/** The parts of a Session that snapshots use. */
export interface SnapshotSources {
  readonly log: {
    readonly secrets: readonly string[]
    readonly place: { readonly clock: Pick<Clock, 'after'> }
  }
  readonly tools: { readonly snapshots?: (() => Promise<Snapshots>) | undefined }
}

/** The snapshots around commands of a Session. What they need is loaded with the first command. */
export function commandSnapshots(
  shared: SnapshotSources,
  recorder: Recorder,
): Pick<TurnParts['tools'], 'snapshots' | 'settleSnapshots'> {
  const { snapshots: open } = shared.tools
  if (open === undefined) return {}
  const { clock } = shared.log.place
  const redactor = new Redactor(shared.log.secrets)
  const partsOf = (call_id: string): SnapshotParts => ({
    call_id,
    clock,
    open,
    signal: recorder.signal,
    redact: (text) => redactor.text(text),
    say: (text) => recorder.publish({ type: 'status', data: { text } }),
  })
  return {
    snapshots: async (call_id) => {
      const { aroundCommand } = await import('../../turn/command-snapshots.ts')
      return aroundCommand(partsOf(call_id))
    },
    settleSnapshots: async () => {
      const { lateSnapshot } = await import('../../turn/command-snapshots.ts')
      for (const { call_id, before } of openSnapshots(recorder.events())) {
        const done = await recorder.record(await lateSnapshot(partsOf(call_id), before))
        if (!done.ok) return done
      }
      return ok(undefined)
    },
  }
}
