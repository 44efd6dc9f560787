import type { Word } from './command-line.ts'
import { isOption, mayBecomeOption } from './launchers.ts'
import { parseOptions, type OptionForms } from './option-forms.ts'

/** A program that only reads, and the arguments with which that is so. */
export interface ReadingProgram {
  /** Options with which it writes, or starts another program; also grouped and abbreviated. */
  readonly except?: string
  /** `--` does not end its options. */
  readonly dashes?: 'ignored'
  /** If operands matter: all options that it may have, and what its operands must be. */
  readonly forms?: OptionForms & { readonly operand?: RegExp; readonly mostOperands?: number }
  /** The narrower forms that may run without a question for a Skill. */
  readonly hydrates?: {
    readonly options: RegExp
    /** `inside`: paths relative to the workspace and in it. */
    readonly operands: 'inside' | RegExp
  }
}

/** The entry of a program that is called by its plain name: a path may lead to another one. Git has a table of its own. */
export function readingProgram(name: string): ReadingProgram | undefined {
  return Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : undefined
}

/** Whether the program only reads with these arguments. Pure. */
export function onlyReads(
  { except, forms, dashes }: ReadingProgram,
  args: readonly Word[],
): boolean {
  if (forms !== undefined) return fitsForms(forms, args)
  if (except === undefined) return true
  const end =
    dashes === 'ignored' ? -1 : args.findIndex(({ text, isFixed }) => isFixed && text === '--')
  const own = end === -1 ? args : args.slice(0, end)
  const options = except.split(' ')
  return own.every((word) =>
    word.isFixed ? !options.some((option) => isOption(word.text, option)) : !mayBecomeOption(word),
  )
}

function fitsForms(
  { operand, mostOperands = Infinity, ...options }: NonNullable<ReadingProgram['forms']>,
  args: readonly Word[],
): boolean {
  const parsed = parseOptions(args, options)
  if (parsed === undefined || parsed.rest.length > mostOperands) return false
  return parsed.rest.every(({ text, isFixed }) => isFixed && (operand?.test(text) ?? true))
}

const NOTHING = /^(?!)/
const LINES = /^(?:-\d{1,6}|-[nc]\d{1,9}|-n|-c|-q)$/

const PROGRAMS: Readonly<Record<string, ReadingProgram>> = {
  ...Object.fromEntries(
    (
      'basename cmp column comm cut df dirname du echo false grep hexdump id md5sum nl od printenv ' +
      'readlink realpath seq sha256sum stat strings tr true type which whoami'
    )
      .split(' ')
      .map((name) => [name, {}]),
  ),
  cat: { hydrates: { options: /^-[nbs]+$/, operands: 'inside' } },
  date: {
    // An operand without a plus sets the clock.
    forms: {
      flags: '-u --utc --universal -R --rfc-email --debug --resolution',
      withValue: '-d --date -f --file -r --reference',
      withOptionalValue: '-I --iso-8601 --rfc-3339',
      operand: /^\+/,
    },
    hydrates: { options: /^(?:-u|-I|--utc|--iso-8601|-R)$/, operands: /^\+[^\n]*$/ },
  },
  // It starts `pr`.
  diff: { except: '-l --paginate' },
  // The first compiles a file, the others start programs that decompress.
  file: { except: '-C --compile -z -Z --uncompress --uncompress-noreport' },
  find: {
    except: '-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls',
    dashes: 'ignored',
  },
  head: { hydrates: { options: LINES, operands: 'inside' } },
  ls: { hydrates: { options: /^-[1aAdFhlLnprRStX]+$/, operands: 'inside' } },
  // It sets a variable of the shell, which later commands of the same line use.
  printf: { except: '-v' },
  pwd: { hydrates: { options: NOTHING, operands: NOTHING } },
  rg: { except: '--pre --hostname-bin -z --search-zip' },
  sort: { except: '-o --output --compress-program' },
  tail: { hydrates: { options: LINES, operands: 'inside' } },
  // Bash evaluates the index of a variable that it looks for, with the commands in it.
  test: { except: '-v', dashes: 'ignored' },
  // `-R` writes a page in each folder.
  tree: { except: '-o -R' },
  uname: { hydrates: { options: /^-[asnrvm]+$/, operands: NOTHING } },
  // The second operand is written.
  uniq: {
    forms: {
      flags: '-c --count -d --repeated -D -i --ignore-case -u --unique -z --zero-terminated',
      withValue: '-f --skip-fields -s --skip-chars -w --check-chars',
      withOptionalValue: '--all-repeated --group',
      mostOperands: 1,
    },
  },
  wc: { hydrates: { options: /^-[lwcm]+$/, operands: 'inside' } },
}
