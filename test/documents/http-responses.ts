import { MentionedPath, MentionError } from '../../src/model/events/turn-events.ts'
import * as z from 'zod'
import { ATTACHMENT_CODES } from '../../src/model/attachment.ts'
import { Descriptor } from '../../src/model/descriptor.ts'
import { NextAction } from '../../src/model/error-shape.ts'
import { ERROR_KINDS } from '../../src/model/errors.ts'
import { EPHEMERAL_DATA } from '../../src/model/events/event.ts'
import { PermissionOutcome, PermissionScope } from '../../src/model/events/permission-events.ts'
import { UsageTotal } from '../../src/model/events/provider-events.ts'
import { UNCOVERED_REASONS } from '../../src/model/events/snapshot-entry.ts'
import { SessionId, TurnId } from '../../src/model/ids.ts'
import { MessageDraft, WaitingMessage } from '../../src/model/messages/message-draft.ts'
import { TurnStatus } from '../../src/model/turn-status.ts'
import { PermissionMode, SessionMode } from '../../src/model/modes.ts'
import { Count } from '../../src/model/shape.ts'
import { TETHER_EVENTS, TETHER_RESPONSES } from './tether-responses.ts'

/** What the server sends. `docs/openapi.yaml` is generated from it, and tests compare it with real responses. */

const done = { ok: z.literal(true) }

const SessionShown = z.object({
  sessionId: SessionId,
  projectRoot: z.string(),
  title: z.string(),
  turns: Count,
  provider: z.string(),
  model: z.string(),
  effort: z.string().optional(),
  mode: SessionMode,
  permissionMode: PermissionMode,
  parentSessionId: z.string().optional(),
  updatedAt: z.string().optional(),
  busy: z.boolean(),
  turnOpen: z.boolean(),
  foreign: z.boolean(),
  damage: z.looseObject({ kind: z.enum(ERROR_KINDS), message: z.string() }).optional(),
  /** What this server does in it now. */
  runsHere: z.boolean(),
  questions: Count,
})

const Verdict = z.object({
  accepted: z.boolean(),
  code: z.enum(ATTACHMENT_CODES).optional(),
  reason: z.string().optional(),
  kind: z.string().optional(),
  sizeBytes: Count.optional(),
  limit: z.number().optional(),
  actual: z.number().optional(),
})

const UncoveredPath = z.object({ path: z.string(), why: z.enum(UNCOVERED_REASONS) })

const UncoveredCommand = z.object({
  turn: Count,
  by: z.enum(['model', 'person', 'skill']),
  command: z.string(),
})

const Compaction = z.object({
  dryRun: z.boolean(),
  compacted: z.boolean(),
  reason: z.string().optional(),
  strategy: z.string().optional(),
  range: z.object({ fromSeq: Count, toSeq: Count }).optional(),
  tokensBefore: Count,
  tokensAfter: Count.optional(),
  requestBytes: z.object({ before: Count, after: Count }).optional(),
  fallback: z.string().optional(),
})

/** An Event with its long fields, or the line of the Log if this version does not know it. */
const LogLine = z.object({
  known: z.boolean(),
  event: z.looseObject({ seq: Count, type: z.string() }),
})

export const RESPONSES = {
  Failure: z.object({
    ok: z.literal(false),
    error: z.object({
      type: z.string(),
      kind: z.enum(ERROR_KINDS),
      message: z.string(),
      details: z.record(z.string(), z.unknown()),
      next_actions: z.array(NextAction),
    }),
  }),
  Health: z.object(done),
  PageToken: z.object({ ...done, token: z.string() }),
  Limits: z.object({
    ...done,
    limits: z.record(z.string(), z.number()),
    attachmentTypes: z.array(z.string()),
  }),
  Models: z.object({
    ...done,
    asOf: z.string(),
    models: z.array(z.looseObject({})),
    references: z.record(z.string(), z.string()),
  }),
  CreatedSession: z.object({ ...done, session: SessionShown, warning: z.string().optional() }),
  OneSession: z.object({ ...done, session: SessionShown }),
  Sessions: z.object({ ...done, sessions: z.array(SessionShown) }),
  DeletedSession: z.object({ ...done, deleted: SessionId }),
  FileDiffs: z.object({
    ...done,
    diff: z.object({
      files: z.array(
        z.object({
          path: z.string(),
          change: z.enum(['created', 'changed', 'removed']),
          text: z.boolean(),
          diff: z.string(),
        }),
      ),
      turnUndone: z.boolean(),
      uncoveredCommands: z.array(UncoveredCommand),
      notCovered: z.array(UncoveredPath),
    }),
  }),
  FilesRestored: z.object({
    ...done,
    restored: z.object({
      turnId: z.string().optional(),
      commandId: z.string().optional(),
      allRestored: z.boolean(),
      files: z.array(
        z.object({
          path: z.string(),
          outcome: z.enum(['restored', 'removed', 'changed_since', 'failed']),
          why: z.string().optional(),
        }),
      ),
      uncoveredCommands: z.array(UncoveredCommand),
      notCovered: z.array(UncoveredPath),
    }),
  }),
  ForkedSession: z.object({
    ...done,
    session: SessionShown,
    fork: z.object({
      sessionId: SessionId,
      parentSessionId: SessionId,
      atSeq: Count,
      askedSeq: Count.optional(),
    }),
  }),
  RewoundSession: z.object({
    ...done,
    session: SessionShown,
    rewind: z.object({
      sessionId: SessionId,
      parentSessionId: SessionId,
      atSeq: Count,
      askedSeq: Count.optional(),
      turn: Count,
      text: z.string(),
      stdin: z.string().optional(),
      resources: z.array(Descriptor),
      files: z.array(
        z.object({
          path: z.string(),
          outcome: z.enum(['restored', 'removed', 'changed_since', 'failed']),
        }),
      ),
      uncoveredCommands: z.array(z.object({ turn: Count, by: z.string(), command: z.string() })),
      notCovered: z.array(UncoveredPath),
    }),
  }),
  Compacted: z.object({ ...done, compaction: Compaction }),
  Upload: z.object({
    ...done,
    path: z.string(),
    name: z.string(),
    sizeBytes: Count,
    mediaType: z.string(),
    verdict: Verdict,
  }),
  Verdicts: z.object({ ...done, verdicts: z.array(Verdict.extend({ path: z.string() })) }),
  Draft: z.object({ ...done, draft: MessageDraft.nullable() }),
  MessageQueue: z.object({ ...done, queue: z.array(WaitingMessage) }),
  RemovedMessage: z.object({ ...done, message: WaitingMessage }),
  Steered: z.object({ ...done, steered: z.boolean() }),
  Workspaces: z.object({
    ...done,
    workspaces: z.array(
      z.object({
        projectRoot: z.string(),
        sessions: z.array(SessionShown.extend({ lastStatus: TurnStatus.optional() })),
        problem: z.string().optional(),
      }),
    ),
  }),
  LogPage: z.object({ ...done, events: z.array(LogLine), damage: z.looseObject({}).optional() }),
  Mentions: z.object({ ...done, paths: z.array(z.string()) }),
  Skills: z.object({
    ...done,
    skills: z.array(z.object({ name: z.string(), description: z.string(), trust: z.string() })),
  }),
  Interrupted: z.object({ ...done, interrupted: z.boolean() }),
  Answered: z.object({ ...done, requestId: z.string() }),
  ...TETHER_RESPONSES,
} as const

export type ResponseName = keyof typeof RESPONSES

/** Of every event about a Turn; `ts` only if it is in the Log. */
const OWN = { turnId: TurnId.optional(), ts: z.string().optional() }

const Choice = z.looseObject({
  number: Count,
  text: z.string(),
  decision: PermissionOutcome,
  scope: PermissionScope,
})

const RefusedFile = z.object({
  path: z.string().optional().describe('What this client sent; absent for other clients.'),
  name: z.string(),
  code: z.enum(ATTACHMENT_CODES),
  reason: z.string(),
  limit: z.number().optional(),
  actual: z.number().optional(),
})

/** What a person must know besides the answer. */
const Notice = z.object({ code: z.string(), text: z.string() })

const StreamFailure = {
  kind: z.enum(ERROR_KINDS),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
}

/** The data of each server-sent event, by its name. */
export const STREAM_EVENTS: Readonly<Record<string, z.ZodType>> = {
  'session:init': z.object({
    ...OWN,
    sessionId: SessionId,
    provider: z.string(),
    model: z.string(),
    warning: z.string().optional(),
    repeated: z.literal(true).optional(),
  }),
  'user:message': z.object({
    ...OWN,
    text: z.string(),
    promptMode: z.enum(['string', 'blocks']),
    steer: z.literal(true).optional(),
    mentions: z.array(MentionedPath).optional(),
    mentionErrors: z.array(MentionError).optional(),
  }),
  'attachments:resolved': z.object({
    ...OWN,
    resources: z.array(Descriptor),
    errors: z.array(RefusedFile),
  }),
  'command:start': z.object({
    ...OWN,
    commandId: z.string(),
    command: z.string(),
    folder: z.string().optional(),
  }),
  'command:result': z.object({
    ...OWN,
    commandId: z.string(),
    outcome: z.enum(['ok', 'failed', 'unknown']),
    exitCode: z.int().optional(),
    output: z.string(),
    truncated: z.boolean(),
  }),
  'chat:delta': z.object({ ...OWN, text: z.string() }),
  'chat:restart': z.object({ ...OWN, reason: z.string() }),
  'chat:complete': z.object({
    ...OWN,
    text: z.string(),
    resources: z.array(Descriptor),
    partial: z.literal(true).optional(),
  }),
  'reasoning:delta': z.object({ ...OWN, text: z.string() }),
  'tool:start': z.object({ ...OWN, callId: z.string(), name: z.string(), arguments: z.string() }),
  'tool:progress': z.object({ ...OWN, callId: z.string(), text: z.string() }),
  'tool:result': z.object({
    ...OWN,
    callId: z.string(),
    name: z.string(),
    ok: z.boolean(),
    outcome: z.enum(['ok', 'failed', 'denied', 'unknown']),
    output: z.string(),
    truncated: z.boolean(),
  }),
  'permission:request': z.looseObject({
    ...OWN,
    requestId: z.string(),
    subject: z.string(),
    reason: z.string(),
    options: z.array(Choice),
  }),
  'permission:waiting': z
    .object({
      requestId: z.string(),
      callId: z.string().optional(),
      subject: z.string(),
      reason: z.string(),
    })
    .describe('Every 15 seconds for each question that has no answer yet.'),
  'permission:settled': z.looseObject({
    ...OWN,
    requestId: z.string(),
    decision: PermissionOutcome,
    scope: PermissionScope,
    by: z.string(),
  }),
  'context:pressure': z.object({ ...OWN, ...EPHEMERAL_DATA.context_pressure.shape }),
  status: z.object({ ...OWN, text: z.string() }),
  'session:complete': z.looseObject({
    ...OWN,
    usage: UsageTotal,
    costUsd: z.number().nullable().describe('Null if the price of a call is not known.'),
  }),
  'turn:error': z.object({ ...OWN, ...StreamFailure, fatal: z.boolean() }),
  'process:exit': z.object({
    ...OWN,
    exitCode: z.int().describe('0 done, 1 failed, 130 interrupted.'),
    interrupted: z.literal(true).optional(),
    crashRecovered: z.literal(true).optional(),
    notices: z
      .array(Notice)
      .describe('Everything that `session:notice` said about the Turn, and more.'),
  }),
  'session:notice': z.object({ ...OWN, ...Notice.shape }),
  'log:event': z.object({ ...OWN, type: z.string(), data: z.record(z.string(), z.unknown()) }),
  log: LogLine.describe('Only with `form=log`.'),
  live: z
    .looseObject({ type: z.string(), data: z.record(z.string(), z.unknown()) })
    .describe('Only with `form=log`: a notice as it happens, which the Log never has.'),
  'stream:error': z.object(StreamFailure),
  ...TETHER_EVENTS,
  rewound: z.object({ afterSeq: z.int() }),
  resync: z.object({ reason: z.string() }),
}
