import type { Clock } from '../../../host/clock.ts'
import type { Streams } from '../../../host/streams.ts'
import type { Theme } from '../../../model/settings.ts'
import type { Session } from '../../../session/session.ts'
import type { Asking } from '../question/asking.ts'
import type { OwnQuestions } from '../question/own-questions.ts'
import type { Display } from '../screen/display.ts'
import type { EditorState } from '../screen/editor.ts'
import type { TerminalSignals } from '../screen/terminal-signals.ts'
import type { SuggestionSources, Suggestions } from '../suggest/suggestions.ts'
import type { TerminalColours } from '../text/palette.ts'
import type { ChatColours } from './chat-colours.ts'
import type { ChatActions, ChatSkill } from './commands/command-context.ts'
import type { PendingAttachment, PendingAttachments } from './commands/pending-attachments.ts'
import type { Picking } from '../pick/picking.ts'
import type { InputKeeper, TypedInput } from './input-keeper.ts'
import type { MessageQueue } from './commands/message-queue.ts'
import type { Transcript } from './transcript/transcript.ts'
import type { WatchedSession } from './watched-session.ts'

export interface ChatParts {
  /** Both standard input and output must be a terminal. */
  readonly streams: Streams
  readonly clock: Clock
  readonly colour: boolean
  /** `auto` by default. */
  readonly theme?: Theme | undefined
  readonly terminal?: TerminalColours | undefined
  readonly signals: TerminalSignals
  readonly actions: ChatActions
  /** Opened with `answers`. The chat closes it, and every other Session that it switches to. */
  readonly session: Session
  /** Attachments for the first message. */
  readonly attachments?: readonly PendingAttachment[]
  /** Absent if nothing that is typed is stored. */
  readonly typedInput?: TypedInput | undefined
  /** The input has the keys of vim. */
  readonly vimKeys?: boolean | undefined
  /** The first message, sent at once. */
  readonly first?: string | undefined
}

/** What the parts of a chat share: keys and entered text change it, and the live region shows it. */
export interface ChatDesk {
  readonly parts: ChatParts
  readonly display: Display
  readonly colours: ChatColours
  readonly asking: Asking
  readonly questions: OwnQuestions
  readonly pending: PendingAttachments
  readonly sources: SuggestionSources
  readonly suggestions: Suggestions
  readonly picking: Picking
  readonly keeper: InputKeeper
  readonly queue: MessageQueue
  readonly transcript: Pick<Transcript, 'isOpen' | 'open' | 'take'>
  /** The git branch of the workspace, as last read. */
  readonly branch: string | undefined
  current: WatchedSession
  editor: EditorState
  /** A note to the person, shown until the next key. */
  note: string
  /** The next Ctrl-C exits. */
  exitsOnInterrupt: boolean
  /** As last listed. */
  skills: readonly ChatSkill[]
  /** Runs work after all work that was entered before it: an earlier command may change what a later one means. */
  readonly inOrder: (work: () => Promise<void>) => void
  /** Runs work now, beside everything that waits in order. */
  readonly alone: (work: () => Promise<void>) => void
  /** Ends the chat with an exit code; only the first call counts. */
  readonly leave: (code: number) => void
  /** Gives the terminal to someone else while `work` runs: nothing is drawn, and no key is read. */
  readonly handOver: (work: () => Promise<void>) => Promise<void>
  /** Ends the running Turn. Text that it has not received yet returns to the input. */
  readonly interrupt: () => void
  /** Shows another Session instead. */
  readonly goTo: (session: Session) => Promise<void>
}
