const QUALITIES =
  'amber azure brisk calm clever coral crisp dusky eager fair fleet gentle golden hazel ivory jade keen lilac lucid mellow merry nimble olive pearly quiet rosy ruby silver sunny teal velvet wry'.split(
    ' ',
  );
const ANIMALS =
  'badger bison crane curlew dingo egret falcon ferret finch gecko heron ibex jackal koala lemur lynx marten newt ocelot otter panda plover puffin quail raven robin seal stoat tapir vole walrus wren'.split(
    ' ',
  );

/** A name that people can tell apart and say aloud: the same in every tab, as it is made of the id. */
export function nameOf(id: string): string {
  const hash = hashOf(id);
  const quality = QUALITIES[hash % QUALITIES.length] ?? '';
  const animal = ANIMALS[Math.floor(hash / QUALITIES.length) % ANIMALS.length] ?? '';
  return `${capital(quality)} ${capital(animal)}`;
}

export function initialsOf(id: string): string {
  return nameOf(id)
    .split(' ')
    .map((word) => word.charAt(0))
    .join('');
}

/** Enough of an id to recognise it beside the name. */
export function shortId(id: string): string {
  return id.slice(0, 6);
}

/** The colour of a member, in both themes bright enough to be seen and never used for text. */
export function colourOf(id: string): string {
  return `hsl(${hashOf(`${id} hue`) % 360} 65% 55%)`;
}

/** Colours of epochs: neighbours are far apart. */
export function colourOfEpoch(epoch: number): string {
  const goldenAngle = 137.5;
  return `hsl(${Math.round(epoch * goldenAngle) % 360} 70% 58%)`;
}

/** FNV-1a with a final mix: spreads ids that differ in one character. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
