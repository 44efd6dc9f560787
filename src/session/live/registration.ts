import type { Result } from '../../model/errors.ts'
import type { SessionId } from '../../model/ids.ts'
import type { LiveSession } from './live-session.ts'

/** What the registry of live Sessions does for a client. */
export interface Registration {
  /** No other client is attached. Only after this one has left. */
  readonly isLast: () => boolean
  /** Resolves when the Session is closed, or at once if other clients stay. */
  readonly leave: () => Promise<void>
  /** Attaches to another Session of the workspace. */
  readonly open: (id: SessionId) => Promise<Result<OtherSession>>
}

/** A client of another Session. Close it once. */
export interface OtherSession extends Pick<LiveSession, 'id' | 'between'> {
  readonly pinnedTexts: () => Promise<readonly string[]>
  readonly pin: (text: string) => Promise<Result<void>>
  readonly close: () => Promise<void>
}
