import process from 'node:process'
import { dirname } from 'node:path'

/** A proxy that does not exist, so that no request leaves this machine, and what turns reports and updates off. */
export function offlineEnv(home: string, program: string): Record<string, string> {
  const nowhere = 'http://127.0.0.1:9'
  const proxies = [
    'HTTP_PROXY',
    'HTTPS_PROXY',
    'ALL_PROXY',
    'http_proxy',
    'https_proxy',
    'all_proxy',
  ]
  return {
    PATH: `${dirname(program)}:${process.env['PATH'] ?? ''}`,
    HOME: home,
    LANG: 'C.UTF-8',
    ...Object.fromEntries(proxies.map((name) => [name, nowhere])),
    NO_PROXY: '127.0.0.1',
    no_proxy: '127.0.0.1',
    DO_NOT_TRACK: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    PI_OFFLINE: '1',
    PI_TELEMETRY: '0',
    PI_SKIP_VERSION_CHECK: '1',
    NO_UPDATE_NOTIFIER: '1',
  }
}
