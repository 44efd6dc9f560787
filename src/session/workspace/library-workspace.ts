import { failed, ok, type Result } from '../../model/errors.ts'
import { SessionId } from '../../model/ids.ts'
import type { ModelRow } from '../../model/model-facts.ts'
import type { PermissionMode, SessionMode } from '../../model/modes.ts'
import type { Effort } from '../../model/settings.ts'
import { Client, Create, INPUT_CHECKS, refusedInput } from '../admission/inputs.ts'
import type { ListedSession } from '../queries/list.ts'
import type { Proof } from '../queries/verify.ts'
import type { ChosenAnswer } from '../questions/session-questions.ts'
import type { ClientOptions } from '../admission/attach-options.ts'
import type { Session } from '../session.ts'
import { beginSession, type SessionChoice } from './begin.ts'
import type { OpenWorkspace } from './workspace.ts'

/** A new Session. What is absent comes from the person's settings, as on the command line. */
export interface CreateOptions extends ClientOptions {
  readonly provider?: string
  readonly model?: string
  readonly mode?: SessionMode
  readonly permission?: PermissionMode
  readonly effort?: Effort
  /** Instructions for the model that the Session keeps: together at most 32 KiB. */
  readonly appendInstructions?: readonly string[]
}

/** What a program sees of a Session. */
export type LibrarySession = Pick<
  Session,
  | 'id'
  | 'state'
  | 'busy'
  | 'lastSeq'
  | 'questions'
  | 'admit'
  | 'stream'
  | 'answer'
  | 'steer'
  | 'interrupt'
  | 'change'
  | 'compact'
  | 'fork'
  | 'rewind'
  | 'undoCompaction'
  | 'verify'
  | 'resources'
  | 'resourceBytes'
  | 'detach'
  | 'close'
>

type Env = Readonly<Record<string, string | undefined>>

/** An open workspace. Close it once: that ends running Turns and closes its Sessions. */
export class LibraryWorkspace {
  readonly #workspace: OpenWorkspace
  readonly #env: Env

  constructor(opened: OpenWorkspace, env: Env) {
    this.#workspace = opened
    this.#env = env
  }

  get path(): string {
    return this.#workspace.harness.workspace
  }

  async create(options: CreateOptions = {}): Promise<Result<LibrarySession>> {
    const { answers = false, ...choice } = options
    return refusedInput(Create, options) ?? this.#begin(choice, { answers })
  }

  /** Opens a Session by its id, by the end of its id, or the `latest`. */
  async resume(session: string, client: ClientOptions = {}): Promise<Result<LibrarySession>> {
    return refusedInput(Client, client) ?? this.#begin({ session }, client)
  }

  /** All Sessions, the latest first. An unreadable one is listed with the reason. */
  list(): Promise<readonly ListedSession[]> {
    return this.#workspace.harness.list()
  }

  /** Only by its whole id. */
  async delete(session: string): Promise<Result<void>> {
    const id = wholeId(session)
    return id.ok ? this.#workspace.harness.delete(id.value) : id
  }

  /** Also for a Session that cannot be opened. See `Session.verify`. */
  async verify(
    session: string,
    { requests = false }: { readonly requests?: boolean } = {},
  ): Promise<Result<Proof>> {
    const id = wholeId(session)
    return id.ok ? this.#workspace.harness.verify(id.value, { requests }) : id
  }

  /** Answers a permission question of any open Session. */
  async answer(request_id: string, answer: ChosenAnswer): Promise<Result<void>> {
    return INPUT_CHECKS.answer(answer) ?? this.#workspace.harness.answer(request_id, answer)
  }

  /** The known models: of one provider, or of all. */
  models(provider?: string): readonly ModelRow[] {
    return this.#workspace.models(provider)
  }

  close(): Promise<void> {
    return this.#workspace.close()
  }

  async #begin(choice: SessionChoice, client: ClientOptions): Promise<Result<LibrarySession>> {
    const options = { env: this.#env, ...client, checks: INPUT_CHECKS }
    const begun = await beginSession(this.#workspace, choice, options)
    return begun.ok ? ok(begun.value.session) : begun
  }
}

/** A program may keep an id as plain text. */
function wholeId(text: string): Result<SessionId> {
  const id = SessionId.safeParse(text)
  if (id.success) return ok(id.data)
  return failed('invalid_args', 'Invalid Session id. Expected a whole id, as `list` returns it.')
}
