import type { Clock } from '../../../host/clock.ts'
import type { Folder } from '../../../host/files/files.ts'
import type { Ids } from '../../../host/ids.ts'
import type { Streams } from '../../../host/streams.ts'
import type { Result } from '../../../model/errors.ts'
import type { ModelFacts, ModelRow } from '../../../model/model-facts.ts'
import type { EffectiveSettings } from '../../../session/settings/settings.ts'
import type { Harness } from '../../../session/harness.ts'
import type { SessionParts } from '../../../session/live/session-parts.ts'

/** The world as a command sees it; the composition root makes it. */
export interface CliWorld {
  readonly streams: Streams
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly version: string
  /** Where the person stands. Throws when that folder is gone. */
  readonly cwd: () => string
  /** Path of `$HAWSER_HOME`. */
  readonly home: string
  /** What a person copied last, an image before text. */
  readonly clipboard: () => Promise<Result<Buffer>>
  /** Opens the workspace at `path`, and everything its Sessions work with. */
  readonly open: (path: string, options?: OpenOptions) => Promise<Result<Opened>>
  /** Opens only what belongs to the user, for commands that need no workspace. */
  readonly openHome: () => Promise<Result<OpenedHome>>
  /** What is known of models, with what settings say of them, by the id of a model. */
  readonly models: (overrides: Readonly<Record<string, ModelFacts>>) => Promise<KnownModels>
  /** A place for Sessions that nobody keeps. */
  readonly scratch: () => Promise<Result<Scratch>>
  /** The rehearsal model as a server on this machine. */
  readonly rehearsal: (options?: RehearsalOptions) => Promise<Result<RehearsalServer>>
}

/** Workspaces, and a home of their own. Close it, and they are gone. */
export interface Scratch {
  /** Makes a workspace with these files in it. */
  readonly make: (
    name: string,
    files: readonly { readonly path: string; readonly text: string }[],
  ) => Promise<Result<void>>
  /** Opens a workspace that was made. `early`: its path stands in Layer 0 instead of late. */
  readonly open: (
    name: string,
    options: { readonly env: CliWorld['env']; readonly early: boolean },
  ) => Promise<Result<Opened>>
  readonly close: () => Promise<void>
}

export interface RehearsalOptions {
  /** Any that is free by default. */
  readonly port?: number
  /** So many requests of a cache key find its cache within a minute; without it all do. */
  readonly cacheRate?: number
  /** Told of every request; the status is 0 where the connection ended without a word. */
  readonly heard?: (request: { method: string; path: string; status: number }) => void
}

/** Serves until it is closed. */
export interface RehearsalServer {
  /** As in `http://127.0.0.1:4000`. */
  readonly origin: string
  /** What can be made to go wrong with a request, as in `cut:BYTES`. */
  readonly switches: readonly string[]
  readonly close: () => Promise<void>
}

/** The catalogue of models. */
export interface KnownModels {
  /** The day its figures were looked up, as in 2026-01-31. */
  readonly asOf: string
  /** What the names of sources stand for. */
  readonly references: Readonly<Record<string, string>>
  readonly providers: readonly string[]
  /** Of a provider, or all. */
  readonly rows: (provider?: string) => readonly ModelRow[]
}

export interface OpenOptions {
  /** Without it there is nobody to ask. */
  readonly ask?: SessionParts['person']['ask']
  /** Where the person is, relative to the workspace: commands start there. Empty or absent at its root. */
  readonly folder?: string
  /** Makes `.hawser` where it is missing; without it that is `not_found`. */
  readonly make?: boolean
}

export interface OpenedHome {
  readonly folder: Folder
  readonly ids: Ids
  readonly close: () => Promise<void>
}

/** A workspace in use. Close it. */
export interface Opened {
  readonly harness: Harness
  readonly settings: EffectiveSettings
  /** `<workspace>/.hawser` and `$HAWSER_HOME`, for settings and trust. */
  readonly folders: { readonly workspace: Folder; readonly home: Folder }
  readonly sandbox: SessionParts['tools']['sandbox']
  /** The model of a provider for whoever names none. */
  readonly defaultModel: (provider: string) => string | undefined
  readonly ids: Ids
  readonly close: () => Promise<void>
}
