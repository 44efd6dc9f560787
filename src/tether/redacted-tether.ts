import type { Redactor } from '../encoding/redaction.ts'
import { failed, type Failed, type Result } from '../model/errors.ts'
import type { FrameToGuest } from '../model/tether/frame.ts'
import type { LiveFrame } from './frames/frame-log.ts'
import type { Tether } from './tether.ts'

/**
 * The same Instances, without the keys of this process: the texts of messages are redacted before they are stored or delivered,
 * names that contain a key are refused, and everything returned is redacted again, because it may have been stored when a key
 * was not known. `redactor` returns the one for the current keys.
 */
export function redactedTether(tether: Tether, redactor: () => Redactor): Tether {
  const clean = async <T>(result: Promise<Result<T>>): Promise<Result<T>> =>
    redactor().value(await result)
  /** Bytes are not JSON: those of an image are what its hash says. */
  const cleanFailure = async <T>(result: Promise<Result<T>>): Promise<Result<T>> => {
    const given = await result
    return given.ok ? given : redactor().value(given)
  }
  return {
    create: async (request, by) => {
      const field = Object.entries(request).find(([, value]) => holds(redactor(), value))?.[0]
      return field === undefined ? clean(tether.create(request, by)) : holdsKey(field)
    },
    list: () => clean(tether.list()),
    info: (name) => clean(tether.info(name)),
    act: (name, act) => clean(tether.act(name, act)),
    map: async (name, workspace) =>
      holds(redactor(), workspace) ? holdsKey('workspace') : clean(tether.map(name, workspace)),
    delete: (name) => clean(tether.delete(name)),
    send: async (name, frame) => {
      const field = keyedName(frame, redactor())
      if (field !== undefined) return holdsKey(field)
      return clean(tether.send(name, redactor().value(frame)))
    },
    poll: (name, query, options) => clean(tether.poll(name, query, options)),
    follow: async (name, after_seq, filter, signal) => {
      const followed = await cleanFailure(tether.follow(name, after_seq, filter, signal))
      return followed.ok ? { ok: true, value: cleanFrames(followed.value, redactor) } : followed
    },
    putImage: (name, image) => cleanFailure(tether.putImage(name, image)),
    image: (name, blob) => cleanFailure(tether.image(name, blob)),
  }
}

/** What identifies a message is never changed: two names could become one, or an answer could miss its message. */
function keyedName(frame: FrameToGuest, redactor: Redactor): string | undefined {
  const { session, msg_id, in_reply_to = '' } = frame
  const names = {
    'session.channel': session.channel,
    'session.id': session.id,
    msg_id,
    in_reply_to,
  }
  return Object.entries(names).find(([, name]) => redactor.holds(name))?.[0]
}

function holds(redactor: Redactor, value: unknown): boolean {
  return typeof value === 'string' && redactor.holds(value)
}

function holdsKey(field: string): Failed {
  const message = `Invalid request: ${field} contains a configured API key.`
  return failed('invalid_args', message, { field }, [
    { action: 'Choose another value. If the key was published, replace it.' },
  ])
}

async function* cleanFrames(
  frames: AsyncGenerator<LiveFrame, void, void>,
  redactor: () => Redactor,
): AsyncGenerator<LiveFrame, void, void> {
  for await (const frame of frames) yield redactor().value(frame)
}
