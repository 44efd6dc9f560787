import * as z from 'zod'
import { InstanceId } from '../../src/model/ids.ts'
import { Frame, ImageReference } from '../../src/model/tether/frame.ts'
import {
  AcceptedFrameShape,
  FramePageShape,
  InstanceInfoShape,
  MissingFrames,
} from '../../src/tether/tether-shapes.ts'

/** What the routes below `/v1` send. */

const done = { ok: z.literal(true) }

export const TETHER_RESPONSES = {
  Instance: z.looseObject({ ...done, ...InstanceInfoShape.shape }),
  Instances: z.object({ ...done, instances: z.array(InstanceInfoShape) }),
  DeletedInstance: z.object({ ...done, deleted: InstanceId }),
  AcceptedFrame: z.object({ ...done, ...AcceptedFrameShape.shape }),
  FramePage: z.object({ ...done, ...FramePageShape.shape }),
  StoredImage: z.object({ ...done, ...ImageReference.shape }),
} as const

/** The data of the server-sent events of `/v1`, by name. The last one may also be `stream:error`. */
export const TETHER_EVENTS: Readonly<Record<string, z.ZodType>> = {
  frame: Frame,
  missing: MissingFrames,
}
