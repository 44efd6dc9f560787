import { looksLikePath } from './words/file-names.ts'
import { asMeant, literalPlaces } from './words/literals.ts'
import { phrase } from './words/phrase.ts'
import { inFolder } from './place.ts'
import { NOTHING, type Context, type Reading } from './reading.ts'

/** "… chart.png to your answer", "… it as "The chart"": calls of attach. */
export function attach(said: string, context: Context, verb: string): Reading {
  const named = TITLED.exec(said)
  const title = named === null ? {} : { title: asMeant(named[1] ?? '', context.literals) }
  const object = named === null ? said : said.slice(0, named.index)
  const paths = literalPlaces(object, context.literals).flatMap(({ literal: { kind, text } }) =>
    kind === 'path' || ((kind === 'quote' || kind === 'code') && looksLikePath(text)) ? [text] : [],
  )
  const own = paths.length === 0 && IT.test(object) ? context.it : paths
  const about = inFolder(own, object, context)
  if (about.length > 0)
    return {
      calls: about.map((path) => ({ name: 'attach', arguments: { path, ...title } })),
      about,
    }
  return verb.startsWith('send') ? NOTHING : { calls: [], missing: WHICH_FILE }
}

const WHICH_FILE = 'I do not know which file to attach.'
const TITLED = phrase`
  (?:,| and)?\s+(?:as|titled|called|named|under|with the (?:title|name|caption)(?: of)?|and call
  it)\s+({TEXT})`
const IT = phrase`^(?:me |us )?(?:it|that(?: file)?|this(?: file)?|them|both|the file)(?!\w)`
