import { allSettings, modelSettings, UNTRUSTED_SETTINGS } from '../../src/model/settings.ts'
import { allowedIn } from '../../src/presenters/cli/input/setting-values.ts'
import { table } from './table.ts'

/** Every setting: what it takes, its default, and whether a workspace may set it before anybody trusts it. */
export function settingTable(): string {
  const rows = allSettings().map((setting) => {
    const { key, description, fallback, path } = setting
    const standard = fallback === undefined ? '' : `\`${JSON.stringify(fallback)}\``
    const untrusted = UNTRUSTED_SETTINGS.some((group) => path[0] === group)
    return [`\`${key}\``, allowedIn(setting), standard, untrusted ? 'yes' : 'no', description]
  })
  return table(['setting', 'takes', 'default', 'a workspace may set it untrusted', 'meaning'], rows)
}

/** Everything that can be set of one model. */
export function modelFactTable(): string {
  const rows = modelSettings('').map((setting) => {
    const name = setting.path.slice(2).join('.')
    return [`\`${name}\``, allowedIn(setting), setting.description]
  })
  return table(['fact', 'takes', 'meaning'], rows)
}
