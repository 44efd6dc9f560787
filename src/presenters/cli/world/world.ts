import type { Redactor } from '../../../encoding/redaction.ts'
import type { Clock } from '../../../host/clock.ts'
import type { RunningServer, ServeOptions } from '../../../host/server/running-server.ts'
import type { Folder } from '../../../host/files/files.ts'
import type { Ids } from '../../../host/ids.ts'
import type { Streams } from '../../../host/streams.ts'
import type { Result } from '../../../model/errors.ts'
import type { ModelFacts, ModelRow } from '../../../model/model-facts.ts'
import type {
  RehearsalOptions,
  RehearsalServer,
} from '../../../session/workspace/rehearsal-server.ts'
import type { Scratch } from '../../../session/workspace/scratch.ts'
import type { InstalledSkills } from '../../../session/workspace/installed-skills.ts'
import type { Tether } from '../../../tether/tether.ts'
import type { OpenAt } from '../../../session/workspace/workspace.ts'

/** The outside world of a command; the composition root creates it. */
export interface CliWorld {
  readonly streams: Streams
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly version: string
  /** The name of the command that runs, for example `log export`; its help is the next step after a usage error. */
  readonly command?: string | undefined
  /** Whether the command answers in JSON. */
  readonly json?: boolean | undefined
  /** The current folder. Throws when it no longer exists. */
  readonly cwd: () => string
  /** Path of `$HAWSER_HOME`. */
  readonly home: string
  /** The content of the clipboard, preferring an image over text. */
  readonly clipboard: () => Promise<Result<Buffer>>
  /** Opens a file in a browser, and returns whether there is one to open it. */
  readonly browser: (path: string) => Promise<boolean>
  /** Opens the workspace at `path` and everything its Sessions need. */
  readonly open: OpenAt
  /** Opens only what belongs to the user, for commands that need no workspace. */
  readonly openHome: () => Promise<Result<OpenedHome>>
  /** The Skills for the workspace at an absolute path; `home` is open. */
  readonly skills: (workspace: string, home: OpenedHome) => Promise<InstalledSkills>
  /** The model catalogue, with the overrides of the settings by model id. */
  readonly models: (overrides: Readonly<Record<string, ModelFacts>>) => Promise<KnownModels>
  /** A place for temporary Sessions. */
  readonly scratch: () => Promise<Result<Scratch>>
  /** The offline demo model as a server on this machine. */
  readonly rehearsal: (options?: RehearsalOptions) => Promise<Result<RehearsalServer>>
  /** Serves an editor on the standard streams of this process until it leaves, or `stop` aborts. */
  readonly acp: (stop: AbortSignal) => Promise<Result<void>>
  /** Starts the local server of this home in this process. */
  readonly serve: (options: ServeOptions) => Promise<Result<RunningServer>>
  /** The bot of a token, asked from the server of Telegram at `apiRoot`. */
  readonly proveBot: (access: {
    readonly token: string
    readonly apiRoot: string
  }) => Promise<Result<ProvedBot>>
  /**
   * Serves Instances over MCP on the standard streams, until the host closes them or `stop` resolves. `redactor` is that of
   * the keys of this process.
   */
  readonly mcp: (
    tether: Tether,
    options: { readonly stop: Promise<void>; readonly redactor: Redactor },
  ) => Promise<void>
}

/** A Telegram bot whose token is valid. */
export interface ProvedBot {
  readonly id: number
  readonly username: string
}

/** The catalogue of models. */
export interface KnownModels {
  /** The day its figures were looked up, such as 2026-01-31. */
  readonly asOf: string
  /** What the names of sources refer to. */
  readonly references: Readonly<Record<string, string>>
  readonly providers: readonly string[]
  /** Of one provider, or of all. */
  readonly rows: (provider?: string) => readonly ModelRow[]
}

export interface OpenedHome {
  readonly folder: Folder
  readonly ids: Ids
  readonly close: () => Promise<void>
}
