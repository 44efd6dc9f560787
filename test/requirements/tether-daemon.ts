import type { Requirement } from './requirement.ts'

/** The tests of the document, over the routes of the server. */
export const TETHER_DAEMON: readonly Requirement[] = [
  {
    id: 'TI-125',
    source: 'tether-images:10.1',
    owner: 'tether',
    text: 'Over the server: an image goes in, its blob is in the workspace, the agent sees it and the answer is about it',
  },
  {
    id: 'TI-126',
    source: 'tether-images:10.2',
    owner: 'tether',
    text: 'Over the server: a tool makes an image, `assistant.done` names it, and its bytes can be fetched',
  },
  {
    id: 'TI-127',
    source: 'tether-images:10.3,10.11',
    owner: 'tether',
    text: 'Over the server: the same image in one message or two is one blob file with two references',
  },
  {
    id: 'TI-128',
    source: 'tether-images:10.4',
    owner: 'tether',
    text: 'Over the server: an image of 15 MB is refused before a blob is written',
  },
  {
    id: 'TI-129',
    source: 'tether-images:10.5',
    owner: 'tether',
    text: 'Over the server: a message with five images is refused',
  },
  {
    id: 'TI-130',
    source: 'tether-images:10.6',
    owner: 'tether',
    text: 'Over the server: an image for an Instance without a workspace fails with `images require workspace mapping`',
  },
  {
    id: 'TI-131',
    source: 'tether-images:10.10',
    owner: 'tether',
    text: 'Over the server: a key that is not valid is refused before the disk is touched',
  },
]
