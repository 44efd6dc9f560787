import type { EventDraft } from '../../model/events/event.ts'

/** The snapshots around one command. */
export interface AroundCommand {
  /**
   * Takes the first one, once. Its Events must be durable before the command starts. Does not fail: an Event says why there is
   * none.
   */
  begin(): Promise<readonly EventDraft[]>
  /** Takes the second one. Empty if `begin` was not called: then the command did not run, or could not write. */
  end(): Promise<readonly EventDraft[]>
}
