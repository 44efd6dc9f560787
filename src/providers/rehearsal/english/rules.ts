import { attach } from './attach.ts'
import type { Clause } from './words/clauses.ts'
import { edit } from './edit.ts'
import { find } from './find.ts'
import { list } from './list.ts'
import { phrase } from './words/phrase.ts'
import { question } from './question.ts'
import { see } from './read.ts'
import { NOTHING, type Context, type Reading } from './reading.ts'
import { means, run } from './run.ts'
import type { Family } from './words/verbs.ts'
import { viewsIn } from './view.ts'
import { wish } from './wish.ts'
import { write } from './write.ts'

/** What a clause asks for, by the rule for its kind. */
export function readingOf(clause: Clause, before: Context): Reading {
  const { opening, mark } = clause
  const context = { ...before, mark }
  const views = viewsIn(clause, context)
  if (views.length > 0) return { calls: views }
  const rest = (opening.rest.replace(ENDING, '') + opening.where).trim()
  switch (opening.mood) {
    case 'forbids':
      return NOTHING
    case 'wonders':
      return question(rest, context)
    case 'tells':
      return wish(rest, context)
    case 'asks': {
      const { family, verb = '' } = opening
      return family === undefined ? NOTHING : asked(family, rest, context, verb)
    }
  }
}

function asked(family: Family, rest: string, context: Context, verb: string): Reading {
  const command = family === 'edit' || family === 'write' ? undefined : means(rest)
  if (command !== undefined) return run(command, context, 'run')
  switch (family) {
    case 'see':
      return NEEDS.test(`${verb} ${rest}`)
        ? write(rest, context, 'create')
        : see(rest, context, verb)
    case 'list':
      return list(rest, context, false)
    case 'find':
      return find(rest, context, verb)
    case 'write':
      return write(rest, context, verb)
    case 'edit':
      return edit(rest, context, verb)
    case 'run':
      return run(rest, context, verb)
    case 'attach':
      return attach(rest, context, verb)
    case 'plan':
      return NOTHING
  }
}

/** Words at the end of a clause that only round it off. */
const ENDING = phrase`
  (?:,?\s+(?:please|pls|plz|thanks|thank you|thank you very much|thanks a lot|cheers|for me|for us
  |to me|back to me|to us|now|right now|right away|again|too|also|as well|instead|if (?:you )?
  (?:can|could|possible|please|would|like|you don't mind)|will you|would you|could you|can you
  |okay|ok|quickly|carefully|first|afterwards?|at the same time|in parallel|when you (?:can
  |have time|get a chance)|right))+\s*$`

/** "I need a new file a.txt with …" asks for one that is not there yet. */
const NEEDS = phrase`
  ^(?:want|need|require) an? (?:new |empty |text |blank )*file (?:called|named|at|with|containing
  |{NAME})`
