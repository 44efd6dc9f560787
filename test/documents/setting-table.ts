import { allSettings, modelSettings, UNTRUSTED_SETTINGS } from '../../src/model/settings.ts'
import { allowedIn } from '../../src/presenters/cli/input/setting-values.ts'
import { table } from './table.ts'

/** Every setting: its values, its default, and whether an untrusted workspace may set it. */
export function settingTable(): string {
  const rows = allSettings().map((setting) => {
    const { key, description, fallback, path } = setting
    const standard = fallback === undefined ? '' : `\`${JSON.stringify(fallback)}\``
    const untrusted = UNTRUSTED_SETTINGS.some((group) => path[0] === group)
    return [`\`${key}\``, allowedIn(setting), standard, untrusted ? 'yes' : 'no', description]
  })
  return table(['setting', 'value', 'default', 'untrusted workspace may set it', 'meaning'], rows)
}

/** Every setting of a model. */
export function modelFactTable(): string {
  const rows = modelSettings('').map((setting) => {
    const name = setting.path.slice(2).join('.')
    return [`\`${name}\``, allowedIn(setting), setting.description]
  })
  return table(['fact', 'value', 'meaning'], rows)
}
