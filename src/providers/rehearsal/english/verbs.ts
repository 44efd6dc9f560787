/** Verbs that begin a command. */
export const READ = 'read(?: out| back| me)?|open|cat|print|display|show(?: me)?'
export const VIEW = `view|look at|see|take another look at|${READ}`
const SKILL = 'use|apply|activate|hydrate|fetch'
export const SEARCH = 'search(?: for)?|look for|grep(?: for)?|find'
export const WRITE = 'write|save|put|create|make'
export const EDIT = 'replace|change|edit'
export const RUN = 'run|execute'
const DESCRIBE = 'describe|compare|tell me|say what'

export const VERBS = [VIEW, SKILL, SEARCH, WRITE, EDIT, RUN, 'list|ls|attach', DESCRIBE].join('|')
