import { CACHE_EXPLAIN, CACHE_PROBE } from './definitions/cache.ts'
import { DIFF, REDO, UNDO } from './definitions/changes.ts'
import * as instances from './definitions/instances.ts'
import * as log from './definitions/log.ts'
import * as permissions from './definitions/permissions.ts'
import * as server from './definitions/server.ts'
import * as sessions from './definitions/sessions.ts'
import * as settings from './definitions/settings.ts'
import * as skills from './definitions/skills.ts'
import * as telegram from './definitions/telegram.ts'
import { CHAT, RUN } from './definitions/turns.ts'
import { lazy, type Command } from './world/command.ts'

/** Every command, in the order in which help lists them. */
export const COMMANDS: readonly Command[] = [
  lazy(
    RUN,
    () => import('./commands/run.ts'),
    // Large, and only documents need it.
    () => import('./render/turn-lines.ts'),
  ),
  lazy(CHAT, () => import('./commands/chat.ts')),
  lazy(sessions.SESSIONS, () => import('./commands/sessions.ts')),
  lazy(sessions.SESSIONS_DELETE, () => import('./commands/sessions-delete.ts')),
  lazy(sessions.FORK, () => import('./commands/fork.ts')),
  lazy(sessions.REWIND, () => import('./commands/rewind.ts')),
  lazy(sessions.GREP, () => import('./commands/grep.ts')),
  lazy(log.LOG_SHOW, () => import('./commands/log/show.ts')),
  lazy(log.LOG_VERIFY, () => import('./commands/log/verify.ts')),
  lazy(log.LOG_SALVAGE, () => import('./commands/log/salvage.ts')),
  lazy(log.LOG_EXPORT, () => import('./commands/log/export.ts')),
  lazy(UNDO, () => import('./commands/undo.ts')),
  lazy(REDO, () => import('./commands/redo.ts')),
  lazy(DIFF, () => import('./commands/diff.ts')),
  lazy(sessions.COMPACT, () => import('./commands/compact.ts')),
  lazy(sessions.PIN, () => import('./commands/pin.ts')),
  lazy(sessions.REQUEST, () => import('./commands/request.ts')),
  lazy(CACHE_EXPLAIN, () => import('./commands/cache-explain.ts')),
  lazy(CACHE_PROBE, () => import('./commands/cache-probe.ts')),
  lazy(sessions.RESOURCES, () => import('./commands/resources.ts')),
  lazy(sessions.GC, () => import('./commands/gc.ts')),
  lazy(settings.MODELS, () => import('./commands/settings/models.ts')),
  lazy(server.UP, () => import('./commands/server/up.ts')),
  lazy(server.ACP, () => import('./commands/server/acp.ts')),
  lazy(server.STATUS, () => import('./commands/server/status.ts')),
  lazy(server.DOWN, () => import('./commands/server/down.ts')),
  lazy(server.MCP, () => import('./commands/server/mcp.ts')),
  lazy(instances.INSTANCE_CREATE, () => import('./commands/instance/create.ts')),
  lazy(instances.INSTANCE_LIST, () => import('./commands/instance/list.ts')),
  lazy(instances.INSTANCE_INFO, () => import('./commands/instance/info.ts')),
  lazy(instances.INSTANCE_MAP, () => import('./commands/instance/map.ts')),
  ...instances.INSTANCE_ACT_COMMANDS.map((one) =>
    lazy(one, () => import('./commands/instance/act.ts')),
  ),
  lazy(instances.INSTANCE_DELETE, () => import('./commands/instance/delete.ts')),
  lazy(instances.INSTANCE_SEND, () => import('./commands/instance/send.ts')),
  lazy(instances.INSTANCE_READ, () => import('./commands/instance/read.ts')),
  lazy(telegram.TELEGRAM_CONNECT, () => import('./commands/telegram/connect.ts')),
  lazy(telegram.TELEGRAM_STATUS, () => import('./commands/telegram/status.ts')),
  lazy(telegram.TELEGRAM_PAIR, () => import('./commands/telegram/pair.ts')),
  lazy(telegram.TELEGRAM_UNPAIR, () => import('./commands/telegram/unpair.ts')),
  lazy(telegram.TELEGRAM_DISCONNECT, () => import('./commands/telegram/disconnect.ts')),
  lazy(server.REHEARSE, () => import('./commands/rehearse.ts')),
  lazy(sessions.USAGE, () => import('./commands/usage.ts')),
  lazy(settings.DOCTOR, () => import('./commands/doctor.ts')),
  lazy(settings.CONFIG_GET, () => import('./commands/settings/config-get.ts')),
  lazy(settings.CONFIG_SET, () => import('./commands/settings/config-set.ts')),
  lazy(permissions.PERMISSIONS, () => import('./commands/settings/permissions.ts')),
  lazy(permissions.PERMISSIONS_ALLOW, () => import('./commands/settings/permissions-add.ts')),
  lazy(permissions.PERMISSIONS_DENY, () => import('./commands/settings/permissions-add.ts')),
  lazy(permissions.PERMISSIONS_REMOVE, () => import('./commands/settings/permissions-remove.ts')),
  lazy(skills.SKILLS, () => import('./commands/skills/skills.ts')),
  lazy(skills.SKILLS_TRUST, () => import('./commands/skills/trust.ts')),
  lazy(skills.SKILLS_UNTRUST, () => import('./commands/skills/untrust.ts')),
  lazy(skills.SKILLS_CHECK, () => import('./commands/skills/check.ts')),
  lazy(settings.TRUST, () => import('./commands/settings/trust.ts')),
  // Passed in, because this file imports that one and an import back would be a cycle.
  lazy(settings.COMPLETIONS, async () => {
    const { runWith, ...rest } = await import('./commands/completions.ts')
    return { ...rest, run: runWith(COMMANDS) }
  }),
]
