import { failed, ok, type Result } from '../../../../model/errors.ts'
import { Theme } from '../../../../model/settings.ts'
import type { PickerOrder } from '../../pick/picker.ts'
import { sentences } from '../../screen/rows.ts'
import type { CommandContext, CommandResult, ThemeChoice } from './command-context.ts'

/** Lets the person choose a theme, which is shown while it is chosen, or changes to the one they name. Both are stored. */
export async function themeCommand(
  { actions, colours, columns, pick }: CommandContext,
  argument: string,
): Promise<Result<CommandResult>> {
  const before = colours.theme
  const named = argument === '' ? await pick(themeOrder(colours)) : argument
  const chosen = Theme.safeParse(named ?? before)
  if (!chosen.success)
    return failed('invalid_args', `Unknown theme. Expected ${Theme.options.join(', ')}.`)
  colours.show(chosen.data)
  if (named === undefined) return ok({ rows: [] })
  const stored = await actions.storeTheme?.(chosen.data)
  if (stored?.ok === false) return stored
  return ok({ rows: sentences(`Theme: ${chosen.data}.`, { columns }) })
}

/** The themes, each with what it does; the chosen one is shown. */
function themeOrder(colours: ThemeChoice): PickerOrder<Theme> {
  const { theme } = colours
  return {
    title: `Theme (now ${theme})`,
    first: Theme.options.indexOf(theme),
    choices: Theme.options.map((name) => ({ value: name, name, columns: [ABOUT[name]] })),
    preview: (chosen) => {
      colours.show(chosen)
      return []
    },
  }
}

const ABOUT: Readonly<Record<Theme, string>> = {
  auto: 'dark or light, by the background of the terminal',
  dark: 'for a dark background',
  light: 'for a light background',
  'high-contrast': 'bright and bold, nothing dim',
  none: 'no colours: bold, underlined and dim only',
}
