import { existsSync, readlinkSync } from 'node:fs'
import process from 'node:process'

/**
 * The IANA name of this process's time zone. `Intl` also knows it, but loads 9 MB of locale data to answer: that is the last
 * resort.
 */
export function timeZone(): string {
  const set = process.env['TZ']
  const name = set === undefined ? linkedZone() : installedZone(set)
  return name ?? Intl.DateTimeFormat().resolvedOptions().timeZone
}

const ZONES = '/usr/share/zoneinfo'
const NAME = /^[A-Z][\w+-]*(?:\/[\w+-]+)*$/
const LINK = /\/zoneinfo\/(?:posix\/|right\/)?([^.]+)$/

/** The zone to which the system's link points. */
function linkedZone(): string | undefined {
  try {
    return zoneName(LINK.exec(readlinkSync('/etc/localtime'))?.[1] ?? '')
  } catch {
    return undefined
  }
}

/** `TZ` may also be a rule, a path or a name that does not exist. */
function installedZone(name: string): string | undefined {
  return existsSync(`${ZONES}/${name}`) ? zoneName(name) : undefined
}

function zoneName(name: string): string | undefined {
  if (!NAME.test(name)) return undefined
  return name === 'Etc/UTC' ? 'UTC' : name
}
