import { pastMarks, phrase, startingWith } from './phrase.ts'
import { order, type When } from './timing.ts'
import type { VerbForm } from './verbs.ts'

/** Words before the verb of a clause, and what they say about it. */
export interface LeadIn {
  readonly rest: string
  /** The form of the verb that follows. */
  readonly form?: VerbForm
  readonly polite?: boolean
  readonly when?: When
  readonly where?: string
}

/** The first greeting, request, word of order or place that a text starts with, if it does. */
export function leadIn(text: string): LeadIn | undefined {
  return request(text) ?? tool(text) ?? order(text) ?? filler(text) ?? place(text)
}

const MANNER = String.raw`(?: (?:please|kindly|possibly|maybe|also|still|just|quickly|perhaps|now|then
  |first|at least|be so kind (?:as to|and)))*`

/** Words that ask, with the form of the verb that follows them. */
const REQUESTS: readonly (readonly [RegExp, VerbForm])[] = [
  [phrase`(?:would|do) you mind(?!\w)`, 'ing'],
  [
    phrase`
      (?:can|could|may|might) i(?= (?:please |just |also )*(?:see|read|have|look|get|view|check
      |know|take|find|list)(?!\w))`,
    'base',
  ],
  [phrase`(?:how|what) about(?!\w)`, 'ing'],
  [phrase`(?:start|begin|continue|go on|finish|end)(?: off| up)? (?:by|with)(?!\w)`, 'ing'],
  [phrase`(?:i|we)(?:'d| would) appreciate you(?!\w)`, 'ing'],
  [
    phrase`
      (?:can|could|would|will|may|might|can't|won't|couldn't) (?:you|u|we|someone
      |somebody)${MANNER}(?: be able to| manage to| help me(?: to)?)?(?!\w)`,
    'base',
  ],
  [
    phrase`
      (?:i|we)(?:'d| would)? (?:want|need|like|love|wish|ask|expect|prefer|appreciate it if)
      (?: for)? you(?: (?:to|could|would))?(?!\w)`,
    'base',
  ],
  [
    phrase`
      (?:i|we)(?:'d| would)? (?:really |just |also )?(?:want|need|like|love|wish|prefer) to
      (?!\w)`,
    'base',
  ],
  [phrase`(?:i|we) (?=(?:want|need|require)(?!\w))`, 'base'],
  [
    phrase`
      you (?:should|must|can|could|may|need to|have to|are to|might|ought to|will)${MANNER}
      (?!\w)`,
    'base',
  ],
  [
    phrase`
      (?:your|the|my) (?:task|job|goal|mission|assignment|request|wish)(?: now| today)? (?:is
      |will be)(?: this)?(?: to)?(?!\w)`,
    'base',
  ],
  [phrase`(?:is it|would it be|it is|it's) possible (?:for you )?to(?!\w)`, 'base'],
  [
    phrase`
      (?:i was|i'm|i am|just)(?: just)? wondering (?:if|whether) you(?: (?:can|could|would
      |might))?(?!\w)`,
    'base',
  ],
  [phrase`i wonder (?:if|whether) you(?: (?:can|could|would|might))?(?!\w)`, 'base'],
  [
    phrase`
      it(?:'d| would) be (?:very |really |so )?(?:nice|great|good|lovely|helpful|useful|cool|kind)
      (?: of you)? (?:if you(?: (?:can|could|would))?|to)(?!\w)`,
    'base',
  ],
  [
    phrase`
      (?:(?:\w|')+ ){0,7}?(?:ask|want|wants|need|needs|like|beg|urge|expect|tell|trouble
      |bother) (?:you|u) to(?!\w)`,
    'base',
  ],
  [
    phrase`
      (?:(?:\w|')+ ){0,7}?(?:if|that|for) (?:you|someone|somebody)(?: (?:can|could|would|might
      |will|may|to))(?: please| kindly)?(?!\w)`,
    'base',
  ],
  [phrase`(?:is there )?any chance (?:that )?you (?:can|could|would)(?!\w)`, 'base'],
  [
    phrase`
      (?:try|remember|be sure|make sure|don't forget|do not forget|don't hesitate|feel free
      |it's time|time) (?:to|and)(?!\w)`,
    'base',
  ],
  [phrase`(?:make sure|see to it)(?: that)? you(?!\w)`, 'base'],
  [phrase`(?:let's|let us|lets)(?!\w)`, 'base'],
  [phrase`why (?:don't you|do you not|not)(?!\w)`, 'base'],
  [phrase`do you think you (?:can|could)(?!\w)`, 'base'],
  [phrase`are you able to(?!\w)`, 'base'],
  [phrase`(?:would you |please |do )?be so (?:kind|good)(?: as to| and)(?!\w)`, 'base'],
  [phrase`(?:please|pls|plz|kindly)(?!\w)`, 'base'],
  [phrase`do me a favou?r(?: and|,|:)?(?!\w)`, 'base'],
  [phrase`(?:go ahead|go on|go)(?: and)?(?!\w)(?! (?:through|over|to))`, 'base'],
  [phrase`help me(?: out)?(?: to| and| by)?(?!\w)`, 'base'],
  [phrase`(?:i'm|i am) looking for(?!\w)`, 'base'],
  [phrase`(?:i'm|i am) interested in(?!\w)`, 'base'],
  [phrase`(?:i|we)(?:'d| would) (?:like|love|prefer)(?= (?:the|an?|all|every|some) )`, 'base'],
]

/** Requests that are verbs themselves. */
const VERB_IN: readonly (readonly [RegExp, string])[] = [
  [/looking\s+for$/i, 'find '],
  [/interested\s+in$/i, 'show '],
  [/(?:['’]d|would)\s+(?:like|love|prefer)$/i, 'need '],
]

function request(text: string): LeadIn | undefined {
  for (const [words, form] of REQUESTS) {
    const start = startingWith(words, text)
    if (start === undefined || start.found[0] === '') continue
    const verb = VERB_IN.find(([ending]) => ending.test(start.found[0]))?.[1] ?? ''
    return { rest: verb + pastMarks(start.rest), form, polite: true }
  }
  return undefined
}

const TOOL =
  '(bash|shell|terminal|command ?line|grep|glob|read|write|edit|find|resource_view|attach)'
const TOOL_TO = phrase`
  (?:use|with|using|take|open|call|invoke) (?:the |your |a )?${TOOL}(?: tool| command)?(?: (?:to
  |and|in order to)|\s*:)(?!\w)`
const TOOL_ON = phrase`
  (?:use|call|invoke|apply|try|run) (?:the |your )?${TOOL} tool (?:on|with|for|against)(?: the)?
  (?: path| pattern| command| file)?(?: of)?(?!\w)`
const VERB_OF_TOOL: Readonly<Record<string, string>> = {
  bash: 'run',
  shell: 'run',
  terminal: 'run',
  glob: 'find files matching',
  resource_view: 'view',
}

/** "Use the grep tool to …" says nothing that the verb does not; "use the read tool on a.txt" has the verb in it. */
function tool(text: string): LeadIn | undefined {
  const to = startingWith(TOOL_TO, text)
  if (to !== undefined) return { rest: pastMarks(to.rest), polite: true }
  const on = startingWith(TOOL_ON, text)
  const name = (on?.found[1] ?? '').toLowerCase()
  return on === undefined
    ? undefined
    : { rest: `${VERB_OF_TOOL[name] ?? name} ${pastMarks(on.rest)}`, polite: true }
}

const FILLER = phrase`
  (?:hey|hi|hello|hiya|yo|ahoy|greetings|oh|ah|um|uh|hm+|erm|listen|ok|okay|k|so|well|right
  |alright|all right|sure|great|good|perfect|nice|cool|thanks|thank you|cheers|yes|yeah|yep
  |good (?:morning|afternoon|evening|day)|dear|there(?! (?:is|are|was|were)(?!\w))(?!')|assistant
  |model|computer|bot|robot|friend|buddy|mate|rehearsal|everyone|folks|and|but|or|also|now|first
  (?:ly| of all| off)?|step (?:1|one)|1[.)]|just|simply|quickly|briefly|carefully|slowly|maybe
  |perhaps|only|again|once more|instead|additionally|furthermore|moreover|in addition|besides|plus
  |too|as well|at the same time|meanwhile|in parallel|simultaneously|by the way|btw|if (?:you )?
  (?:can|could|possible|may|please|would|like|needed|necessary|you don't mind|you have (?:time
  |a moment))|when you (?:have|get) (?:time|a moment|a minute|a chance)|for me|(?:i'm
  |i am) curious(?: to know)?|(?:i|we) (?:forgot|forget|don't know|do not know|don't remember
  |do not remember|can't remember|cannot remember|can't recall|have no idea|am not sure
  |'m not sure|was wondering)(?= (?:wh|how|if))|i wonder|i (?:was|am) wondering|do you know
  |any idea|tell me(?: about)?|let me(?: know)?|lemme|remind me|(?:show me|find out|figure out
  |check|see|explain|know|learn|find|tell)(?: for me)?(?= (?:wh|how|if))|it's|it is|that is|i mean
  |for example|actually|in fact|do(?= (?:read|open|show|list|run|look|search|find|check)))
  (?!\w)`
const BULLET = /(?:[-*•–—]|\(?\d{1,2}[.)]|#+)\s+/

function filler(text: string): LeadIn | undefined {
  const start = startingWith(FILLER, text) ?? startingWith(BULLET, text)
  return start === undefined ? undefined : { rest: pastMarks(start.rest) }
}

const PLACE = phrase`
  (?:in|inside|within|under|from|on|at|for|throughout|across) ((?:{DET}(?:{FILE} |{FOLDER} )?
  (?:called |named )?)?{NAME}(?:{AND}{DET}{NAME})*|{DET}[\w.-]+ {FOLDER}|{DET}[\w-]+(?=,))
  (?: {FOLDER}| {FILE})?(?:,|:| (?=\S))\s*`

function place(text: string): LeadIn | undefined {
  const start = startingWith(PLACE, text)
  if (start === undefined) return undefined
  return { rest: start.rest, where: ` in ${start.found[1] ?? ''}` }
}
