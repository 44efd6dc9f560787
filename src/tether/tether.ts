import type { Result } from '../model/errors.ts'
import type { InstanceId } from '../model/ids.ts'
import type { FrameToGuest, ImageReference } from '../model/tether/frame.ts'
import type {
  INSTANCE_CREATORS,
  InstanceRecord,
  InstanceRequest,
} from '../model/tether/instance.ts'
import type { LiveFrame, PollOptions } from './frames/frame-log.ts'
import type { FrameFilter, FramePage, FrameQuery } from './frames/frame-query.ts'

/** What an Instance is doing. Only `enabled` outlives the server. */
export type InstanceState = 'stopped' | 'starting' | 'running' | 'paused'

/** An Instance as everybody sees it. */
export interface InstanceInfo extends Omit<InstanceRecord, 'folder'> {
  readonly state: InstanceState
  /** Messages that have not ended. */
  readonly waiting: number
  /** Why it was stopped, if it did not stop by itself or on request. */
  readonly reason?: { readonly kind: string; readonly message: string }
  readonly spend: { readonly usd: number; readonly calls: number }
}

/** What a person or program can do to an Instance, without a message. */
export const INSTANCE_ACTS = ['start', 'pause', 'resume', 'stop', 'enable', 'disable'] as const
export type InstanceAct = (typeof INSTANCE_ACTS)[number]

/** A frame that is durable. */
export interface AcceptedFrame {
  readonly msg_id: string
  readonly session_id: string
  /** Its number: every answer has a higher one. */
  readonly ingress_seq: number
}

export interface StoredImage {
  readonly media_type: ImageReference['media_type']
  readonly bytes: Buffer
}

export type InstanceCreator = (typeof INSTANCE_CREATORS)[number]

/**
 * The Instances of a home, in this process or behind the local server. An Instance is named by its id or handle. Every method
 * may be called at any time and fails with a kind; none waits for a model.
 */
export interface Tether {
  create(request: InstanceRequest, by: InstanceCreator): Promise<Result<InstanceInfo>>
  list(): Promise<Result<readonly InstanceInfo[]>>
  info(name: string): Promise<Result<InstanceInfo>>
  /** Resolves when it is done: `start` when the guest is ready. */
  act(name: string, act: InstanceAct): Promise<Result<InstanceInfo>>
  /**
   * Gives it another workspace: a path, `own` for its private folder, or `null` for none. Its guest is stopped first. Refused
   * while messages have not ended.
   */
  map(name: string, workspace: string | null): Promise<Result<InstanceInfo>>
  /** Stops it and deletes its folder. */
  delete(name: string): Promise<Result<InstanceId>>
  /** Stores a frame, and wakes the Instance. */
  send(name: string, frame: FrameToGuest): Promise<Result<AcceptedFrame>>
  poll(name: string, query: FrameQuery, options?: PollOptions): Promise<Result<FramePage>>
  /** Frames above the cursor as they come; without one, from now on. Reading wakes nothing. */
  follow(
    name: string,
    after_seq: number | undefined,
    filter: FrameFilter,
    signal: AbortSignal,
  ): Promise<Result<AsyncGenerator<LiveFrame, void, void>>>
  /** Writes an image into the blobs of its workspace. The type is judged by the bytes, and must be the declared one. */
  putImage(name: string, image: StoredImage): Promise<Result<ImageReference>>
  /** An image of its workspace, verified now. */
  image(name: string, blob: string): Promise<Result<StoredImage>>
}
