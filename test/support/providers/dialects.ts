import * as chat from '../../../src/providers/chat/encode.ts'
import * as messages from '../../../src/providers/messages/encode.ts'
import type { Dialect } from '../../../src/providers/provider.ts'
import * as rehearsal from '../../../src/providers/rehearsal/encode.ts'
import * as responses from '../../../src/providers/responses/encode.ts'

/** The pure part of every dialect, for tests that compare all of them. */
export const DIALECTS: Readonly<Record<Dialect['dialect'], Dialect>> = {
  rehearsal: { dialect: 'rehearsal', encode: rehearsal.encode, buildBody: rehearsal.frame },
  messages: { dialect: 'messages', encode: messages.encode, buildBody: messages.buildBody },
  responses: { dialect: 'responses', encode: responses.encode, buildBody: responses.buildBody },
  chat: { dialect: 'chat', encode: chat.encode, buildBody: chat.buildBody },
}

export type DialectName = Dialect['dialect']

export const DIALECT_NAMES = ['rehearsal', 'messages', 'responses', 'chat'] as const

export const VENDOR_DIALECTS = ['messages', 'responses', 'chat'] as const
