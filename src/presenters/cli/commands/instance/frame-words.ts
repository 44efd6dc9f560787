import { countOf } from '../../../../encoding/amounts.ts'
import type { Frame } from '../../../../model/tether/frame.ts'
import { visibleLine, visibleText } from '../../text/visible-text.ts'

/** The frames that people read. Pieces of an answer are shown only as they arrive. */
export const SHOWN_TYPES = ['user.message', 'assistant.done', 'error'] as const
export const LIVE_TYPES = [...SHOWN_TYPES, 'assistant.delta'] as const

/** Frames as text, in their order. Does no I/O. */
export class FrameWords {
  /** The message whose answer is being written, and what was written of it since the line began. */
  #open: { readonly replyTo: string; text: string } | undefined

  /** What to print for a frame, before its images. */
  of(frame: Frame): string {
    switch (frame.type) {
      case 'user.message':
        return `${this.#closed()}${quotedText(frame)}`
      case 'assistant.delta':
        return this.#piece(replyName(frame), frame.payload.text)
      case 'assistant.done':
        return this.#whole(frame)
      case 'error': {
        const { kind, message } = frame.payload
        const told = noticeLines(frame.payload.notices)
        return `${this.#closed()}! ${visibleText(message)} (${kind})\n${told}`
      }
      case 'control.cancel':
      case 'control.ping':
      case 'event.ack':
      case 'status.presence':
      case 'reasoning.delta':
      case 'status.pong':
        return ''
      default:
        return frame satisfies never
    }
  }

  /** Ends an unfinished line. */
  end(): string {
    return this.#closed()
  }

  #piece(replyTo: string, text: string): string {
    const before = this.#open?.replyTo === replyTo ? '' : this.#closed()
    const open = this.#open ?? { replyTo, text: '' }
    open.text += text
    this.#open = open
    return before + visibleText(text)
  }

  /** The text is not repeated if it has just been written piece by piece. */
  #whole(frame: Extract<Frame, { type: 'assistant.done' }>): string {
    const { text, status, truncated = false, text_blob } = frame.payload
    const isWritten =
      this.#open?.replyTo === replyName(frame) && this.#open.text.endsWith(text) && text !== ''
    const written = isWritten ? this.#closed() : `${this.#closed()}${lines(text)}`
    const rest = truncated
      ? `[cut off${text_blob === undefined ? '' : `; the whole: ${text_blob}`}]\n`
      : ''
    const ending = status === 'completed' ? '' : `[${status}]\n`
    return `${written}${rest}${ending}${noticeLines(frame.payload.notices)}`
  }

  #closed(): string {
    const hasLine = this.#open !== undefined && !this.#open.text.endsWith('\n')
    this.#open = undefined
    return hasLine ? '\n' : ''
  }
}

/** What the person must know besides the answer. */
function noticeLines(
  notices: Extract<Frame, { type: 'assistant.done' }>['payload']['notices'] = [],
): string {
  return notices.map(({ text }) => `! ${visibleLine(text)}\n`).join('')
}

function replyName({ session, in_reply_to = '' }: Frame): string {
  return JSON.stringify([session.channel, session.id, in_reply_to])
}

function lines(text: string): string {
  return text === '' || text.endsWith('\n') ? visibleText(text) : `${visibleText(text)}\n`
}

/** With its conversation, unless that is the usual one. */
function quotedText({ session, payload }: Extract<Frame, { type: 'user.message' }>): string {
  const { channel, id } = session
  const where =
    channel === 'host' && id === 'default' ? '' : `[${visibleLine(`${channel}/${id}`)}] `
  const who = payload.user === undefined ? '' : `${visibleLine(payload.user.name)}: `
  const images = payload.images === undefined ? '' : ` [${countOf(payload.images.length, 'image')}]`
  const text = `${where}${who}${visibleText(payload.text)}${images}`
  const quoted = text.split('\n').map((line) => `> ${line}\n`)
  return quoted.join('')
}
